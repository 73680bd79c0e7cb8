#include "tests/support/ladder_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/events/event.h"
#include "compute/core/units.h"
#include "compute/gpu/gpu_matmul.h"
#include "compute/measure/gated_clock.h"
#include "compute/measure/measure.h"
#include "compute/measure/statistics.h"
#include "compute/tensor/tensor.h"

namespace lab::test {
namespace {

using Json = nlohmann::ordered_json;

double flop_of(const ProductShape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k);
}

std::string text_of(const ProductShape& shape) {
  return fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
}

}  // namespace

// Random matrices of one shape on the GPU, and the rungs that multiply them.
class LadderBench::Case {
 public:
  Case(LadderBench& bench, const ProductShape& shape, Precision precision)
      : bench_(bench), gpu_(*bench.device_.gpu()), shape_(shape), precision_(precision) {
    const DType type = storage_of(precision);
    a_ = randn(bench.device_, {shape.m, shape.k}, 1, type);
    b_ = randn(bench.device_, {shape.k, shape.n}, 2, type);
    c_ = zeros(bench.device_, {shape.m, shape.n});
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

  bool run() {
    for (const RungInfo& rung : gpu_.matmul().rungs()) {
      if (rung.takes.front() == precision_ && !skips(rung)) multiply(rung);
    }
    drop_wrong_rungs();
    for (int round = 0; round < bench_.options_.rounds; ++round) {
      for (auto at = rungs_.begin(); at != rungs_.end();) {
        at = time(*at) ? std::next(at) : rungs_.erase(at);
      }
    }
    print();
    return !failed_;
  }

 private:
  struct Timed {
    const RungInfo* rung;
    double norm;  // of C
    std::vector<double> seconds = {};
  };

  Json about(const char* type, const RungInfo& rung) const {
    return {{"type", type},  {"kernel", rung.name}, {"dtype", to_string(precision_)},
            {"m", shape_.m}, {"n", shape_.n},       {"k", shape_.k}};
  }

  bool skips(const RungInfo& rung) {
    auto reason = gpu_.matmul().unsupported(rung, product_);
    if (!reason) reason = too_long(rung);
    if (!reason) return false;
    bench_.print_(Json{
        {"type", "skip"},
        {"what", fmt::format("{} in {} at {}", rung.name, to_string(precision_), text_of(shape_))},
        {"reason",
         *reason}}.dump());
    return true;
  }

  // Predicts the time of a product from the rate at the shape measured before.
  std::optional<std::string> too_long(const RungInfo& rung) const {
    const auto last = bench_.last_.find(rung.name);
    if (last == bench_.last_.end()) return std::nullopt;
    const auto& [shape, seconds] = last->second;
    const double predicted_s = seconds * flop_of(shape_) / flop_of(shape);
    if (predicted_s <= bench_.options_.longest_s) return std::nullopt;
    return fmt::format(
        "predicted to take {:.3g} s per product, at the {} measured at {}; the limit is {:.3g} s",
        predicted_s, format_si(flop_of(shape) / seconds, "FLOP/s"), text_of(shape),
        bench_.options_.longest_s);
  }

  void fail(const RungInfo& rung, const std::string& reason) {
    failed_ = true;
    Json json = about("fail", rung);
    json["reason"] = reason;
    bench_.print_(json.dump());
  }

  // A rung's first product on a stream may wait for the GPU, so it runs on the clock's stream here.
  void multiply(const RungInfo& rung) {
    c_ = full(c_.context(), {shape_.m, shape_.n}, std::nan(""));
    gpu_.main_stream().synchronise();
    product_.c = reinterpret_cast<float*>(c_.data());
    try {
      clock_.by_host([&](int /*stream*/) { gpu_.matmul().run(rung, product_, clock_.stream(0)); });
    } catch (const Error& error) {
      if (error.code() != Errc::Cuda) throw;  // the GPU is still usable
      fail(rung, error.what());
      return;
    }
    rungs_.push_back({&rung, norm(c_)});
  }

  void drop_wrong_rungs() {
    std::vector<double> norms;
    for (const Timed& timed : rungs_) {
      if (std::isfinite(timed.norm)) norms.push_back(timed.norm);
    }
    const double expected = norms.empty() ? 0 : median(norms);
    // A library may truncate to tf32 where the lab's rung rounds; norms then differ by 7e-4.
    const double tolerance = precision_ == Precision::TF32 ? 2e-3 : 1e-3;
    const auto is_wrong = [&](const Timed& timed) {
      if (std::abs(timed.norm - expected) <= tolerance * expected) return false;
      fail(*timed.rung,
           fmt::format("the norm of C is {}, the median of all rungs is {}", timed.norm, expected));
      return true;
    };
    rungs_.erase(std::remove_if(rungs_.begin(), rungs_.end(), is_wrong), rungs_.end());
  }

  // False, after a report, if the rung failed and the GPU is still usable.
  bool time(Timed& timed) {
    try {
      timed.seconds.push_back(median_s(*timed.rung));
    } catch (const Error& error) {
      if (error.code() != Errc::Cuda) throw;
      fail(*timed.rung, error.what());
      return false;
    }
    return true;
  }

  double median_s(const RungInfo& rung) {
    const auto product = [&](GpuStream& stream) { gpu_.matmul().run(rung, product_, stream); };
    const auto products = [&](std::int64_t times) { return clock_.gated_runs(times, product); };
    return measure(
               TimedCalls{products},
               {.budget_s = bench_.options_.seconds, .min_repetition_s = 5e-4, .max_calls = 100})
        .median_s;
  }

  void print() {
    double library_s = 0;
    for (const Timed& timed : rungs_) {
      const double s = median(timed.seconds);
      if (timed.rung->library && (library_s == 0 || s < library_s)) library_s = s;
    }
    for (const Timed& timed : rungs_) {
      const double s = median(timed.seconds);
      bench_.last_[timed.rung->name] = {shape_, s};
      Json json = about("bench", *timed.rung);
      json["median_s"] = s;
      json["gflops"] = flop_of(shape_) / s * 1e-9;
      json["share_of_library"] = library_s / s;
      bench_.print_(json.dump());
    }
  }

  LadderBench& bench_;
  GpuDevice& gpu_;
  const ProductShape shape_;
  const Precision precision_;
  Tensor a_, b_, c_;
  GatedClock clock_{gpu_, 1};  // destroyed before the tensors, so that its work ends first
  GpuProduct product_;
  std::vector<Timed> rungs_;
  bool failed_ = false;
};

LadderBench::LadderBench(DeviceContext& device, LadderBenchOptions options,
                         std::function<void(const std::string& json)> print)
    : device_(device), options_(std::move(options)), print_(std::move(print)) {}

bool LadderBench::run(Precision precision) {
  last_.clear();
  bool right = true;
  for (const ProductShape& shape : options_.shapes) {
    right = Case(*this, shape, precision).run() && right;
  }
  return right;
}

}  // namespace lab::test
