// Micro-benchmarks of the lab's kernels, on random data in warm caches.
//
//     bench_kernels [--benchmark_filter=REGEX] [--benchmark_format=json] ...
#include "tests/bench/kernels.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include "compute/core/error.h"

namespace lab::bench {
namespace {

class Entry final : public benchmark::internal::Benchmark {
 public:
  Entry(const std::string& name, std::function<void(benchmark::State&)> run)
      : Benchmark(name.c_str()), run_(std::move(run)) {}
  // A benchmark that throws Error(Errc::Unsupported) is skipped with the error's message.
  void Run(benchmark::State& state) override {
    try {
      run_(state);
    } catch (const Error& error) {
      if (error.code() != Errc::Unsupported) throw;
      state.SkipWithError(error.what());
    }
  }

 private:
  const std::function<void(benchmark::State&)> run_;
};

}  // namespace

benchmark::internal::Benchmark* add(const std::string& name,
                                    const std::function<void(benchmark::State&)>& run) {
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the registry owns it from here
  return benchmark::internal::RegisterBenchmarkInternal(
      std::make_unique<Entry>(name, run).release());
}

}  // namespace lab::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    lab::Machine machine;
    lab::DeviceContext& device = machine.at(lab::cpu());
    const auto guard = device.threads().bind_caller();
    lab::bench::register_gemm(device);
    lab::bench::register_convolutions(device);
    lab::bench::register_passes();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_kernels: %s\n", error.what());
    return 1;
  }
  return 0;
}
