#include "compute/experiments/transfers/transfer_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lab {
namespace {

// log(t_quick / t_slow) at each size that both have.
struct Ratio {
  double bytes, log_ratio;
};

std::vector<Ratio> ratios(std::span<const TransferPoint> quick,
                          std::span<const TransferPoint> slow) {
  std::vector<Ratio> common;
  for (const TransferPoint& q : quick) {
    const auto s = std::find_if(slow.begin(), slow.end(),
                                [&](const TransferPoint& p) { return p.bytes == q.bytes; });
    if (s != slow.end()) common.push_back({q.bytes, std::log(q.seconds / s->seconds)});
  }
  return common;
}

double r2_of_log_time(const LatencyModel& model, std::span<const TransferPoint> points) {
  double mean = 0;
  for (const TransferPoint& p : points) mean += std::log(p.seconds);
  mean /= static_cast<double>(points.size());
  double residual = 0, total = 0;
  for (const TransferPoint& p : points) {
    const double log_s = std::log(p.seconds);
    const double error = log_s - std::log(model.latency_s + p.bytes * model.s_per_byte);
    residual += error * error;
    total += (log_s - mean) * (log_s - mean);
  }
  return total > 0 ? 1 - residual / total : 1;
}

// The one time with the smallest sum of squared relative errors.
double constant_time(std::span<const TransferPoint> points) {
  double u1 = 0, uu = 0;
  for (const TransferPoint& p : points) {
    u1 += 1 / p.seconds;
    uu += 1 / (p.seconds * p.seconds);
  }
  return u1 / uu;
}

std::size_t count_sizes(std::span<const TransferPoint> points) {
  std::vector<double> sizes;
  for (const TransferPoint& p : points) sizes.push_back(p.bytes);
  std::sort(sizes.begin(), sizes.end());
  return static_cast<std::size_t>(std::unique(sizes.begin(), sizes.end()) - sizes.begin());
}

}  // namespace

std::optional<LatencyModel> fit_latency_model(std::span<const TransferPoint> points) {
  if (count_sizes(points) < 3) return std::nullopt;
  // Relative errors are L*u + S*v - 1 with u = 1/t and v = bytes/t: two normal equations.
  double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0;
  for (const TransferPoint& p : points) {
    const double u = 1 / p.seconds, v = p.bytes / p.seconds;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    u1 += u;
    v1 += v;
  }
  const double determinant = uu * vv - uv * uv;
  LatencyModel model;
  model.latency_s = (u1 * vv - v1 * uv) / determinant;
  model.s_per_byte = (uu * v1 - uv * u1) / determinant;
  if (!(model.latency_s >= 0)) {
    // The best model without a latency, since one below zero means nothing.
    model.latency_s = 0;
    model.s_per_byte = v1 / vv;
  }
  if (!(model.s_per_byte > 0)) return std::nullopt;
  model.r2 = r2_of_log_time(model, points);
  return model;
}

std::optional<LatencyModel> fit_memory_model(std::span<const TransferPoint> points,
                                             const CachedSizes& cached) {
  std::vector<TransferPoint> small, large;
  for (const TransferPoint& p : points) {
    if (p.bytes <= cached.first_cache) small.push_back(p);
    if (p.bytes >= cached.memory) large.push_back(p);
  }
  if (count_sizes(small) < 3 || large.empty()) return fit_latency_model(points);
  LatencyModel model;
  if (const auto line = fit_latency_model(small)) {
    model.latency_s = line->latency_s;
  } else {
    model.latency_s = constant_time(small);  // what little the size adds drowns in the noise
  }
  double v1 = 0, vv = 0;
  for (const TransferPoint& p : large) {
    const double v = p.bytes / p.seconds;
    v1 += v * (1 - model.latency_s / p.seconds);
    vv += v * v;
  }
  model.s_per_byte = v1 / vv;
  if (!(model.s_per_byte > 0)) return fit_latency_model(points);
  model.r2 = r2_of_log_time(model, points);
  return model;
}

std::optional<double> break_even_bytes(std::span<const TransferPoint> quick,
                                       std::span<const TransferPoint> slow) {
  const std::vector<Ratio> common = ratios(quick, slow);
  if (common.empty() || common.back().log_ratio >= 0) return std::nullopt;
  const auto last_loss =
      std::find_if(common.rbegin(), common.rend(), [](const Ratio& r) { return r.log_ratio >= 0; });
  if (last_loss == common.rend()) return common.front().bytes;
  const Ratio below = *last_loss, above = *std::prev(last_loss);
  const double share = below.log_ratio / (below.log_ratio - above.log_ratio);
  return below.bytes * std::pow(above.bytes / below.bytes, share);
}

}  // namespace lab
