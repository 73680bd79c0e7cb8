#include "compute/kernels/convolution/measured_chooser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "compute/core/error.h"
#include "compute/machine/simd_level.h"

namespace lab {
namespace {

using Algorithms = std::vector<const ConvolutionAlgorithm*>;

constexpr std::uint64_t kLargestClass = 64;

// With the batch that stands for all of its class.
ConvolutionCase class_of(ConvolutionCase c) {
  const auto images = static_cast<std::uint64_t>(std::max<std::int64_t>(1, c.batch));
  c.batch = static_cast<std::int64_t>(std::bit_floor(std::min(images, kLargestClass)));
  return c;
}

std::string key_of(const std::string& processor, const ConvolutionCase& c, const Algorithms& able) {
  std::vector<std::string_view> names;
  for (const ConvolutionAlgorithm* algorithm : able) names.emplace_back(algorithm->name());
  return fmt::format("{}, {}: {} of {}: {}", processor, simd_target(), to_string(c.stage),
                     describe(c), fmt::join(names, "/"));
}

const ConvolutionAlgorithm* named(std::string_view name, const Algorithms& able) {
  const auto found = std::find_if(able.begin(), able.end(),
                                  [&](const auto* algorithm) { return name == algorithm->name(); });
  return found == able.end() ? nullptr : *found;
}

}  // namespace

MeasuredChooser::MeasuredChooser(RememberedChoices& choices, MeasuredChooserOptions options)
    : choices_(choices), options_(std::move(options)) {}

const ConvolutionAlgorithm& MeasuredChooser::choose(const ConvolutionCase& c, ThreadPool& pool) {
  const Algorithms able = options_.able(c);
  if (able.size() == 1) return *able.front();
  const ConvolutionCase measured = class_of(c);
  const auto valid = [&](const std::string& name) { return named(name, able) != nullptr; };
  const auto measure = [&]() -> std::string {
    if (options_.measuring) options_.measuring(measured);
    const std::vector<double> seconds = options_.race(able, measured, pool, options_.stop);
    if (options_.stop.stop_requested()) throw Error(Errc::Cancelled, "cancelled");
    const auto fastest = std::min_element(seconds.begin(), seconds.end()) - seconds.begin();
    return able[static_cast<std::size_t>(fastest)]->name();
  };
  const std::string key = key_of(options_.processor, measured, able);
  return *named(choices_.choose(key, valid, measure, options_.stop), able);
}

}  // namespace lab
