// Counts the heap allocations of complete training steps: batch loading, forward, loss, backward
// and update. Prints one JSON object per model and number of CPU devices.
//
//     bench_step_allocations [STEPS] [BATCH]
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <span>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/machine/machine.h"
#include "compute/train/batch_loader.h"
#include "compute/train/trainer.h"
#include "tests/bench/counting_malloc.h"

namespace {

std::vector<long> count_steps(lab::Machine& machine, const char* model, std::int64_t steps,
                              std::int64_t batch) {
  std::vector<lab::DeviceContext*> devices;
  for (const lab::Device device : machine.devices()) {
    if (device.kind == lab::DeviceKind::Cpu) devices.push_back(&machine.at(device));
  }
  const lab::Dataset data = lab::make_synthetic_garments(steps * batch, 1, 0);
  lab::BatchLoader loader(data.train, batch, lab::BatchOrder::Shuffled, 0);
  loader.start_epoch(1);
  lab::TrainerOptions options;
  options.model = model;
  options.batch = batch;
  lab::Trainer trainer(devices, options);
  std::vector<long> counts(static_cast<std::size_t>(steps));
  for (std::int64_t step = 0; step < steps; ++step) {
    const long before = lab::bench::allocation_count();
    trainer.step(loader, step, 0.01, {});
    counts[static_cast<std::size_t>(step)] = lab::bench::allocation_count() - before;
  }
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t steps = argc > 1 ? std::atoi(argv[1]) : 4;
  const std::int64_t batch = argc > 2 ? std::atoi(argv[2]) : 32;
  if (steps < 2 || batch < 1) {
    fmt::print(stderr, "usage: bench_step_allocations [STEPS, at least 2] [BATCH]\n");
    return 2;
  }
  try {
    for (const int devices : {1, 2}) {
      lab::Machine machine({.cpu_devices = devices});
      for (const char* model : {"softmax", "mlp", "lenet", "resnet18"}) {
        fmt::print("{{\"model\":\"{}\",\"devices\":{},\"batch\":{},\"allocations\":[{}]}}\n", model,
                   devices, batch, fmt::join(count_steps(machine, model, steps, batch), ","));
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_step_allocations: {}\n", error.what());
    return 1;
  }
  return 0;
}
