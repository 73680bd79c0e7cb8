#include "compute/core/events/share_list.h"

#include <fmt/format.h>

#include <cmath>

#include "compute/core/language.h"

namespace lab {
namespace {

constexpr double kShareSumTolerance = 1e-3;

}  // namespace

std::string validate_shares(const std::vector<double>& shares, std::size_t devices) {
  const std::string list = fmt::format("{}", fmt::join(shares, ","));
  if (shares.empty() || shares.size() != devices) {
    if (shares.size() == 1) {
      return trf("1 share ({}) for {} devices; give one per device", list, devices);
    }
    return devices == 1
               ? trf("{} shares ({}) for 1 device; give one per device", shares.size(), list)
               : trf("{} shares ({}) for {} devices; give one per device", shares.size(), list,
                     devices);
  }
  double sum = 0;
  bool up_to_one = true, fractions = false;
  for (const double share : shares) {
    if (!std::isfinite(share) || share < 0) {
      return trf("{} among {}; a share must be a number from 0", share, list);
    }
    sum += share;
    up_to_one = up_to_one && share <= 1;
    fractions = fractions || share != std::floor(share);
  }
  if (!(sum > 0)) return trf("{} leave every device without images; one must be above 0", list);
  if (devices == 1 || !up_to_one || !fractions || std::abs(sum - 1) <= kShareSumTolerance)
    return {};
  return trf(
      "{} sum to {:.4g}; fractions must sum to 1, as in 0.7,0.3; proportions in another unit "
      "need a value above 1, as in 70,30",
      list, sum);
}

}  // namespace lab
