#pragma once
// Kernel families of bench_kernels, and helpers for their benchmarks.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compute/machine/machine.h"
#include "compute/tensor/random.h"

namespace lab::bench {

// Each function adds its benchmarks. GEMM and convolution run on all threads of the device, passes
// on the calling thread. The device must outlive the run.
void register_gemm(DeviceContext& device);
void register_convolutions(DeviceContext& device);
void register_passes();

// Adds one benchmark; the caller sets its arguments on the result.
benchmark::internal::Benchmark* add(const std::string& name,
                                    const std::function<void(benchmark::State&)>& run);

// Uniform in [-1, 1). Not zeros, since some processors run faster on them.
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
    benchmark::ClobberMemory();  // keeps the results from being optimised away
  }
}

// Reports `amount` per iteration as a rate, such as FLOP=250G/s.
inline void count(benchmark::State& state, const char* unit, double amount) {
  state.counters[unit] = benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace lab::bench
