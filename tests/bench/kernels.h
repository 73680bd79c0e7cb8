#pragma once
// The families of kernels that bench_kernels times, and what they share.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compute/machine/machine.h"
#include "compute/tensor/random.h"

namespace lab::bench {

// Each adds its benchmarks. GEMM and convolution run on all threads of the device, the others on
// the calling one. The device must outlive the run.
void register_gemm(DeviceContext& device);
void register_convolutions(DeviceContext& device);
void register_passes();

// Adds one benchmark, to be given arguments.
benchmark::internal::Benchmark* add(const std::string& name,
                                    const std::function<void(benchmark::State&)>& run);

// Uniform in [-1, 1); never zeros, on which some processors are faster.
inline std::vector<float> random_floats(std::int64_t size, std::uint64_t stream) {
  std::vector<float> values(static_cast<std::size_t>(size));
  RandomStream{7, stream}.fill_uniform(values);
  for (float& value : values) value = 2 * value - 1;
  return values;
}

template <typename Operation>
void repeat(benchmark::State& state, Operation operation) {
  while (state.KeepRunning()) {
    operation();
    benchmark::ClobberMemory();  // results are taken for used
  }
}

// What one iteration does, shown as a rate: FLOP=250G/s.
inline void count(benchmark::State& state, const char* unit, double amount) {
  state.counters[unit] = benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace lab::bench
