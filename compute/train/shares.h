#pragma once
// Which device gets how many images of a step.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lab {

// Images for each device, in proportion to `weights` (not negative, not all 0): whole numbers that
// sum to `images`, by largest remainder, the earlier device first where remainders are equal.
// Equal weights give sizes that differ by one at most. A device may get none.
std::vector<std::int64_t> split_images(std::int64_t images, std::span<const double> weights);

// Learns from the times of the steps how fast each device is.
class AutoShares {
 public:
  explicit AutoShares(std::size_t devices);

  const std::vector<double>& weights() const { return weights_; }

  // What each device took of the latest step: images and seconds of its own work. Returns true when
  // the weights have changed: after enough steps for a median, when the step gains more than noise.
  bool observe(std::span<const std::int64_t> images, std::span<const double> compute_s);

 private:
  std::vector<double> weights_;
  std::vector<double> rates_;                 // images per second, the latest known
  std::vector<std::vector<double>> seconds_;  // of the steps since the last decision
  std::vector<std::int64_t> images_;          // of each of those steps
  std::size_t skip_ = 0;                      // steps to let pass first
};

}  // namespace lab
