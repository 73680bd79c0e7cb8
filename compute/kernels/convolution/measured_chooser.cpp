#include "compute/kernels/convolution/measured_chooser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>

#include "compute/core/error.h"
#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/machine/simd_level.h"
#include "compute/measure/measure.h"
#include "hwy/aligned_allocator.h"

namespace lab {
namespace {

constexpr int kRounds = 3;
constexpr int kQuickRounds = 10;   // if the fastest takes less than kQuick_s
constexpr double kQuick_s = 1e-3;  // of each thread
// Noise cannot make up for this factor.
constexpr double kFarBehind = 1.5;

template <typename T>
hwy::AlignedFreeUniquePtr<T[]> allocate(std::int64_t n) {
  auto memory = hwy::AllocateAligned<T>(static_cast<std::size_t>(n));
  if (!memory) throw std::bad_alloc();
  return memory;
}

// Values in [-1, 1), followed by readable slack. Zeros would be faster than real data.
class Array {
 public:
  Array(std::int64_t n, ThreadPool& pool)
      : floats_(allocate<float>(n + ConvolutionAlgorithm::kSlackFloats)) {
    pool.parallel_for(n + ConvolutionAlgorithm::kSlackFloats, 4096,
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) floats_[i] = value(i);
                      });
  }
  float* data() const { return floats_.get(); }

 private:
  static float value(std::int64_t i) {
    const auto bits = static_cast<std::uint32_t>(i * 2654435761) >> 8;
    return static_cast<float>(bits) * (2.0F / (1 << 24)) - 1.0F;
  }
  hwy::AlignedFreeUniquePtr<float[]> floats_;
};

// CPU seconds that each thread of a pool has computed.
class ComputeClock {
 public:
  explicit ComputeClock(ThreadPool& pool)
      : pool_(pool), spent_s_(static_cast<std::size_t>(pool.size())) {}
  void start() {
    pool_.run([this](int t) { spent_s_[static_cast<std::size_t>(t)] = thread_cpu_s(); });
  }
  // CPU seconds of all threads since start(). Which of them computed a part does not matter.
  double used_s() {
    pool_.run([this](int t) {
      double& spent = spent_s_[static_cast<std::size_t>(t)];
      spent = thread_cpu_s() - spent;
    });
    return std::accumulate(spent_s_.begin(), spent_s_.end(), 0.0);
  }

 private:
  ThreadPool& pool_;
  std::vector<double> spent_s_;
};

class Track {
 public:
  Track(const ConvolutionCase& c, ThreadPool& pool, std::int64_t scratch_bytes,
        const std::stop_token& stop)
      : case_(c),
        x_(c.batch * c.shape.in_size(), pool),
        y_(c.batch * c.shape.out_size(), pool),
        weight_(c.shape.weights(), pool),
        scratch_(allocate<std::byte>(std::max<std::int64_t>(1, scratch_bytes))),
        context_{.pool = pool,
                 .batch = c.batch,
                 .scratch = {scratch_.get(), scratch_bytes},
                 .stop = stop,
                 .products = c.products} {}

  // The output overwrites an array that is an input in other stages.
  void run(const ConvolutionAlgorithm& algorithm) const {
    const simd::ConvShape& s = case_.shape;
    switch (case_.stage) {
      case ConvolutionStage::Forward:
        return algorithm.forward(s, context_, x_.data(), weight_.data(), nullptr, y_.data());
      case ConvolutionStage::InputGradient:
        return algorithm.input_gradient(s, context_, y_.data(), weight_.data(), x_.data(), false);
      case ConvolutionStage::WeightGradient:
        return algorithm.weight_gradient(s, context_, x_.data(), y_.data(), weight_.data());
    }
  }

 private:
  const ConvolutionCase case_;
  const Array x_, y_, weight_;
  const hwy::AlignedFreeUniquePtr<std::byte[]> scratch_;
  const ConvolutionContext context_;
};

}  // namespace

std::vector<double> time_algorithms(const std::vector<const ConvolutionAlgorithm*>& algorithms,
                                    const ConvolutionCase& c, ThreadPool& pool,
                                    const std::stop_token& stop) {
  std::int64_t scratch_bytes = 0;
  for (const ConvolutionAlgorithm* algorithm : algorithms) {
    scratch_bytes = std::max(scratch_bytes, algorithm->scratch_bytes(c));
  }
  const Track track(c, pool, scratch_bytes, stop);
  for (const ConvolutionAlgorithm* algorithm : algorithms) track.run(*algorithm);
  ComputeClock clock(pool);
  std::vector<double> best_s(algorithms.size(), std::numeric_limits<double>::infinity());
  double leader_s = 0;
  for (int round = 0; !stop.stop_requested(); ++round) {
    const bool quick = leader_s < kQuick_s * pool.size();
    if (round >= (quick ? kQuickRounds : kRounds)) break;
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
      if (round > 0 && best_s[i] > kFarBehind * leader_s) continue;
      clock.start();
      track.run(*algorithms[i]);
      best_s[i] = std::min(best_s[i], clock.used_s());
    }
    leader_s = *std::min_element(best_s.begin(), best_s.end());
  }
  return best_s;
}

namespace {

using Algorithms = std::vector<const ConvolutionAlgorithm*>;

constexpr std::uint64_t kLargestClass = 64;

// Returns the case with the batch size that represents its class.
ConvolutionCase class_of(ConvolutionCase c) {
  const auto images = static_cast<std::uint64_t>(std::max<std::int64_t>(1, c.batch));
  c.batch = static_cast<std::int64_t>(std::bit_floor(std::min(images, kLargestClass)));
  return c;
}

std::string key_of(const std::string& processor, const ConvolutionCase& c,
                   const Algorithms& eligible) {
  std::vector<std::string_view> names;
  for (const ConvolutionAlgorithm* algorithm : eligible) names.emplace_back(algorithm->name());
  std::string kernels = simd_target();
  if (c.products == Precision::BF16) kernels += fmt::format(" {}", bf16_kernels().name);
  return fmt::format("{}, {}: {} of {}: {}", processor, kernels, to_string(c.stage), describe(c),
                     fmt::join(names, "/"));
}

const ConvolutionAlgorithm* named(std::string_view name, const Algorithms& eligible) {
  const auto found = std::find_if(eligible.begin(), eligible.end(),
                                  [&](const auto* algorithm) { return name == algorithm->name(); });
  return found == eligible.end() ? nullptr : *found;
}

}  // namespace

MeasuredChooser::MeasuredChooser(RememberedChoices& choices, MeasuredChooserOptions options)
    : choices_(choices), options_(std::move(options)) {}

const ConvolutionAlgorithm& MeasuredChooser::choose(const ConvolutionCase& c, ThreadPool& pool) {
  const Algorithms eligible = options_.eligible(c);
  if (eligible.size() == 1) return *eligible.front();
  const ConvolutionCase measured = class_of(c);
  const auto valid = [&](const std::string& name) { return named(name, eligible) != nullptr; };
  const auto measure = [&]() -> std::string {
    if (options_.measuring) options_.measuring(measured);
    const std::vector<double> seconds =
        options_.time_algorithms(eligible, measured, pool, options_.stop);
    throw_if_cancelled(options_.stop);
    const auto fastest = std::min_element(seconds.begin(), seconds.end()) - seconds.begin();
    return eligible[static_cast<std::size_t>(fastest)]->name();
  };
  const std::string key = key_of(options_.processor, measured, eligible);
  return *named(choices_.choose(key, valid, measure, options_.stop), eligible);
}

}  // namespace lab
