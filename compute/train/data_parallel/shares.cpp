#include "compute/train/data_parallel/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/measure/statistics.h"

namespace lab {

std::vector<std::int64_t> split_images(std::int64_t images, std::span<const double> weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(total > 0) || !std::isfinite(total)) {
    throw Error(Errc::InvalidArgument,
                tr("shares: the sum is 0; give at least one device a share above 0"));
  }
  std::vector<std::int64_t> parts(weights.size());
  std::vector<double> rest(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double ideal = static_cast<double>(images) * (weights[i] / total);
    // The tolerance restores whole numbers that rounding of the shares left just below.
    parts[i] = static_cast<std::int64_t>(std::floor(ideal + 1e-9));
    rest[i] = ideal - static_cast<double>(parts[i]);
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rest[a] > rest[b] + 1e-9; });
  std::int64_t left = images - std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  for (std::size_t i = 0; left > 0; i = (i + 1) % order.size()) {
    if (weights[order[i]] == 0) continue;
    ++parts[order[i]];
    --left;
  }
  return parts;
}

std::optional<std::vector<double>> limit_shares(std::int64_t images,
                                                std::span<const double> weights,
                                                std::span<const std::int64_t> most) {
  std::vector<double> shares(weights.begin(), weights.end());
  std::vector<bool> full(shares.size());
  for (;;) {
    const std::vector<std::int64_t> parts = split_images(images, shares);
    bool fits = true;
    std::int64_t rest = images;
    double others = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (parts[i] > most[i]) {
        full[i] = true;
        fits = false;
      }
      if (full[i]) {
        rest -= most[i];
      } else {
        others += weights[i];
      }
    }
    if (fits) return shares;
    const auto open = std::ranges::count(full, false);
    if (open == 0) return {};
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double part = others > 0 ? weights[i] / others : 1.0 / static_cast<double>(open);
      shares[i] = full[i] ? static_cast<double>(most[i]) : static_cast<double>(rest) * part;
    }
  }
}

namespace {

constexpr std::size_t kWindow = 5;     // steps per decision
constexpr std::size_t kUnsettled = 1;  // steps after a change that still reflect the old division
constexpr double kWorthwhile = 0.97;   // a new division must reduce the time to this fraction

}  // namespace

AutoShares::AutoShares(std::size_t devices)
    : weights_(devices, 1.0 / static_cast<double>(devices)),
      rates_(devices, 0.0),
      seconds_(devices),
      skip_(2 * kUnsettled) {}

// With t = n / rate for each device, all finish together if n is proportional to the rate. If t has
// a constant part, the first decision over- or undershoots; later ones correct it.
bool AutoShares::observe(std::span<const std::int64_t> images, std::span<const double> compute_s) {
  if (skip_ > 0) {
    --skip_;
    return false;
  }
  // A short last batch is not representative of full ones.
  if (!images_.empty() && !std::equal(images.begin(), images.end(), images_.begin())) {
    if (std::reduce(images.begin(), images.end()) < std::reduce(images_.begin(), images_.end())) {
      return false;
    }
    for (std::vector<double>& seconds : seconds_) seconds.clear();
  }
  images_.assign(images.begin(), images.end());
  for (std::size_t i = 0; i < seconds_.size(); ++i) seconds_[i].push_back(compute_s[i]);
  if (seconds_.front().size() < kWindow) return false;

  double slowest_s = 0, total = 0, known_rate = 0;
  for (std::size_t i = 0; i < seconds_.size(); ++i) {
    const double s = median(seconds_[i]);
    if (images_[i] > 0 && s > 0) {
      rates_[i] = static_cast<double>(images_[i]) / s;
      slowest_s = std::max(slowest_s, s);
    }
    total += static_cast<double>(images_[i]);
    known_rate += rates_[i];
    seconds_[i].clear();
  }
  images_.clear();
  if (!(known_rate > 0) || total / known_rate > kWorthwhile * slowest_s) return false;
  for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] = rates_[i] / known_rate;
  skip_ = kUnsettled;
  return true;
}

}  // namespace lab
