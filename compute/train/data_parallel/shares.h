#pragma once
// Division of a step's images among devices.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lab {

// Divides `images` in proportion to `weights` (not negative, not all 0) by largest remainder; the
// earlier device wins a tie. The results are whole numbers that sum to `images`. Equal weights give
// sizes that differ by at most one. A device may get none. Throws Error(InvalidArgument) if the
// weights do not have a finite, positive sum.
std::vector<std::int64_t> split_images(std::int64_t images, std::span<const double> weights);

// Shares for which split_images() gives no device more than `most` of `images`. The rest goes to
// the other devices in proportion to their weights, equally if these are 0. Empty if the limits sum
// to less than `images`.
std::optional<std::vector<double>> limit_shares(std::int64_t images,
                                                std::span<const double> weights,
                                                std::span<const std::int64_t> most);

// Estimates the speed of each device from the times of the steps.
class AutoShares {
 public:
  explicit AutoShares(std::size_t devices);

  const std::vector<double>& weights() const { return weights_; }

  // Takes each device's images and seconds of its own work in the latest step. Returns true if the
  // weights have changed: after enough steps for a median, if the gain exceeds noise.
  bool observe(std::span<const std::int64_t> images, std::span<const double> compute_s);

 private:
  std::vector<double> weights_;
  std::vector<double> rates_;                 // images per second, latest estimate
  std::vector<std::vector<double>> seconds_;  // per device, since the last decision
  std::vector<std::int64_t> images_;          // per device, in those steps
  std::size_t skip_ = 0;                      // steps to ignore first
};

}  // namespace lab
