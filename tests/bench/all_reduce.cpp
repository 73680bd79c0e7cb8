// Measures the all-reduce of a network's gradients over the CPU devices of one process, each driven
// by its own thread. Prints one JSON object.
//
//     bench_all_reduce [DEVICES] [FLOATS] [ROUNDS]
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "compute/machine/machine.h"
#include "compute/measure/measure.h"
#include "compute/measure/statistics.h"
#include "compute/tensor/random.h"
#include "compute/train/data_parallel/shared_memory_reducer.h"

namespace {

int number(std::span<char*> words, std::size_t index, int otherwise) {
  return index < words.size() ? std::atoi(words[index]) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  const int devices = number(words, 1, 2);
  const int floats = number(words, 2, 11'175'818);  // the book's ResNet-18
  const int rounds = number(words, 3, 25);
  if (devices < 2 || floats < 1 || rounds < 1) {
    fmt::print(stderr, "usage: bench_all_reduce [DEVICES] [FLOATS] [ROUNDS]\n");
    return 2;
  }
  lab::Machine machine({.cpu_devices = devices});
  std::vector<int> cores;
  for (const lab::Device device : machine.devices()) {
    cores.push_back(machine.at(device).info().cores.front());
  }
  lab::ThreadPool crew(cores);
  std::vector<std::vector<float>> gradients(cores.size());
  crew.run([&](int t) {  // first touch by the device's own thread
    auto& values = gradients[static_cast<std::size_t>(t)];
    values.resize(static_cast<std::size_t>(floats));
    lab::RandomStream{1, static_cast<std::uint64_t>(t)}.fill_normal(values);
  });
  std::vector<lab::SharedMemoryReducer::Source> arrays;
  arrays.reserve(gradients.size());
  for (auto& values : gradients) arrays.push_back({values.data()});
  const std::vector<std::int64_t> offsets = {0, floats};
  const auto buckets = lab::plan_buckets(offsets, std::int64_t{floats} * 4, 0);
  lab::SharedMemoryReducer reducer(std::move(arrays), buckets, lab::single_rank(), /*spin=*/true);
  const std::vector<std::int64_t> images(cores.size(), 1);

  std::vector<double> seconds;
  for (int round = 0; round <= rounds; ++round) {
    reducer.begin_step(images);
    const double begin = lab::monotonic_s();
    crew.run([&](int t) {
      reducer.ready(static_cast<std::size_t>(t), 0);
      reducer.finish(static_cast<std::size_t>(t), {});
    });
    if (round > 0) seconds.push_back(lab::monotonic_s() - begin);
  }
  const lab::Timing time = lab::summarise(seconds);
  fmt::print(
      "{{\"floats\":{},\"devices\":{},\"rounds\":{},\"median_s\":{:.6f},\"p10_s\":{:.6f},"
      "\"p90_s\":{:.6f}}}\n",
      floats, devices, rounds, time.median_s, time.p10_s, time.p90_s);
}
