// Benchmarks the GPU's rungs and libraries on products of many shapes, interleaved on the same
// random matrices.
//
//     gpu_bench_ladder [--seconds X] [--rounds N] [MxNxK...]
//
// Prints one JSON object per rung, precision and shape: the median over N rounds of the seconds per
// product, each round about X seconds long and timed with GPU events behind a gate. The default
// shapes are squares, the convolutions of a ResNet, and thin matrices. The exit status is 1 if two
// rungs disagree.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/error.h"
#include "compute/measure/gated_clock.h"
#include "compute/measure/measure.h"
#include "compute/measure/statistics.h"
#include "compute/tensor/tensor.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/product_shape.h"

namespace {

using lab::Precision;
using lab::RungInfo;
using lab::test::ProductShape;

struct Options {
  double seconds = 0.05;
  int rounds = 3;
  std::vector<ProductShape> shapes;
};

bool parse(std::span<char*> words, Options& options) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--seconds" && i + 1 < words.size()) {
      options.seconds = std::atof(words[++i]);
    } else if (word == "--rounds" && i + 1 < words.size()) {
      options.rounds = std::atoi(words[++i]);
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
  return options.seconds > 0 && options.rounds > 0;
}

// Random matrices of one shape on the GPU, and the rungs that multiply them.
class Bench {
 public:
  Bench(lab::DeviceContext& device, const ProductShape& shape, Precision precision)
      : gpu_(*device.gpu()), shape_(shape), precision_(precision) {
    const lab::DType type = lab::storage_of(precision);
    a_ = lab::randn(device, {shape.m, shape.k}, 1, type);
    b_ = lab::randn(device, {shape.k, shape.n}, 2, type);
    c_ = lab::zeros(device, {shape.m, shape.n});
    gpu_.main_stream().synchronise();
    product_ = {.m = shape.m,
                .n = shape.n,
                .k = shape.k,
                .a = a_.data(),
                .lda = shape.k,
                .b = b_.data(),
                .ldb = shape.n,
                .c = reinterpret_cast<float*>(c_.data()),
                .ldc = shape.n};
  }

  // Returns false if two rungs disagree.
  bool run(const Options& options) {
    for (const RungInfo& rung : gpu_.matmul().rungs()) {
      if (rung.takes.front() != precision_) continue;
      if (const auto reason = gpu_.matmul().unsupported(rung, product_)) {
        fmt::print("{{\"type\":\"skip\",\"what\":\"{} in {} at {}x{}x{}\",\"reason\":\"{}\"}}\n",
                   rung.name, lab::to_string(precision_), shape_.m, shape_.n, shape_.k, *reason);
        continue;
      }
      if (!agrees(rung)) return false;
      rungs_.push_back({&rung, {}});
    }
    for (int round = 0; round < options.rounds; ++round) {
      for (Timed& timed : rungs_) timed.seconds.push_back(median_s(*timed.rung, options.seconds));
    }
    print();
    return true;
  }

 private:
  struct Timed {
    const RungInfo* rung;
    std::vector<double> seconds;
  };

  // Compares the norm of C with that of the first rung. This check is coarse; the tests have
  // precise ones. A rung's first product on a stream may wait for the GPU, so it runs on the
  // clock's stream here.
  bool agrees(const RungInfo& rung) {
    c_ = lab::full(c_.context(), {shape_.m, shape_.n}, std::nan(""));
    gpu_.main_stream().synchronise();
    product_.c = reinterpret_cast<float*>(c_.data());
    clock_.by_host([&](int /*stream*/) { gpu_.matmul().run(rung, product_, clock_.stream(0)); });
    const double found = lab::norm(c_);
    if (norm_ == 0) norm_ = found;
    // A library may truncate to tf32 where the lab's rung rounds; norms then differ by 7e-4.
    const double tolerance = precision_ == Precision::TF32 ? 2e-3 : 1e-3;
    if (std::abs(found - norm_) <= tolerance * norm_) return true;
    fmt::print(stderr, "{} at {}x{}x{}: the norm of C is {}, expected {} as for the first rung\n",
               rung.name, shape_.m, shape_.n, shape_.k, found, norm_);
    return false;
  }

  double median_s(const RungInfo& rung, double seconds) {
    const auto product = [&](lab::GpuStream& stream) { gpu_.matmul().run(rung, product_, stream); };
    const auto products = [&](std::int64_t times) { return clock_.gated_runs(times, product); };
    return lab::measure(lab::TimedCalls{products},
                        {.budget_s = seconds, .min_repetition_s = 5e-4, .max_calls = 100})
        .median_s;
  }

  void print() const {
    double library_s = 0;
    for (const Timed& timed : rungs_) {
      const double s = lab::median(timed.seconds);
      if (timed.rung->library && (library_s == 0 || s < library_s)) library_s = s;
    }
    const double flop = 2.0 * static_cast<double>(shape_.m) * static_cast<double>(shape_.n) *
                        static_cast<double>(shape_.k);
    for (const Timed& timed : rungs_) {
      const double s = lab::median(timed.seconds);
      fmt::print(
          "{{\"type\":\"bench\",\"kernel\":\"{}\",\"dtype\":\"{}\",\"m\":{},\"n\":{},\"k\":{},"
          "\"median_s\":{:.6g},\"gflops\":{:.6g},\"share_of_library\":{:.4f}}}\n",
          timed.rung->name, lab::to_string(precision_), shape_.m, shape_.n, shape_.k, s,
          flop / s * 1e-9, library_s / s);
    }
  }

  lab::GpuDevice& gpu_;
  const ProductShape shape_;
  const Precision precision_;
  lab::Tensor a_, b_, c_;
  lab::GatedClock clock_{gpu_, 1};  // destroyed before the tensors, so that its work ends first
  lab::GpuProduct product_;
  double norm_ = 0;
  std::vector<Timed> rungs_;
};

int run(const Options& options) {
  for (const Precision precision : {Precision::F32, Precision::TF32, Precision::BF16}) {
    for (const ProductShape& shape : options.shapes) {
      Bench bench(lab::test::gpu_machine().at(lab::gpu()), shape, precision);
      if (!bench.run(options)) return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse({argv, static_cast<std::size_t>(argc)}, options)) {
    fmt::print(stderr, "usage: gpu_bench_ladder [--seconds X] [--rounds N] [MxNxK...]\n");
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
