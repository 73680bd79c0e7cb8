// Benchmarks the GPU's rungs and libraries on products of many shapes, interleaved on the same
// random matrices.
//
//     gpu_bench_ladder [--seconds X] [--rounds N] [--longest X] [MxNxK...]
//
// Prints one JSON object per rung, precision and shape: the median over N rounds of the seconds per
// product, each round about X seconds long and timed with GPU events behind a gate. A rung whose
// product is predicted to take more than --longest seconds, from its rate at the shape before, is
// skipped. The default shapes are squares, the convolutions of a ResNet, and thin matrices. A
// rung that fails or disagrees with the others is reported, the rest is measured, and the exit
// status is 1.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "compute/core/error.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/ladder_bench.h"

namespace {

using lab::test::LadderBenchOptions;

bool parse(std::span<char*> words, LadderBenchOptions& options) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--seconds" && i + 1 < words.size()) {
      options.seconds = std::atof(words[++i]);
    } else if (word == "--rounds" && i + 1 < words.size()) {
      options.rounds = std::atoi(words[++i]);
    } else if (word == "--longest" && i + 1 < words.size()) {
      options.longest_s = std::atof(words[++i]);
    } else {
      options.shapes.push_back(lab::test::parse_product_shape(word));
      if (options.shapes.back().m == 0) return false;
    }
  }
  if (options.shapes.empty()) {
    options.shapes = {{1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096},
                      {8192, 8192, 8192}, {4096, 4096, 64},   {64, 4096, 4096},
                      {4096, 64, 4096},   {512, 6272, 4608},  {64, 200704, 576}};
  }
  return options.seconds > 0 && options.rounds > 0 && options.longest_s > 0;
}

int run(const LadderBenchOptions& options) {
  lab::test::LadderBench bench(lab::test::gpu_machine().at(lab::gpu()), options,
                               [](const std::string& json) {
                                 fmt::print("{}\n", json);
                                 std::fflush(stdout);  // kept if a later rung ends the process
                               });
  int status = 0;
  for (const auto precision : {lab::Precision::F32, lab::Precision::TF32, lab::Precision::BF16}) {
    if (!bench.run(precision)) status = 1;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  LadderBenchOptions options;
  if (!parse({argv, static_cast<std::size_t>(argc)}, options)) {
    fmt::print(stderr,
               "usage: gpu_bench_ladder [--seconds X] [--rounds N] [--longest X] [MxNxK...]\n");
    return 2;
  }
  if (const std::string why = lab::test::why_no_gpu(); !why.empty()) {
    fmt::print("{{\"type\":\"skip\",\"what\":\"gpu_bench_ladder\",\"reason\":\"{}\"}}\n", why);
    return 0;
  }
  int status = 1;
  try {
    status = run(options);
  } catch (const lab::Error& error) {
    fmt::print(stderr, "gpu_bench_ladder: {}\n", error.what());
  }
  lab::test::end_gpu_machine();
  return status;
}
