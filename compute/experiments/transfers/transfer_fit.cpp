#include "compute/experiments/transfers/transfer_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/core/units.h"
#include "compute/measure/cache_flusher.h"

namespace lab {
namespace {

// log(t_quick / t_slow) at each common size.
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

// The constant time with the smallest sum of squared relative errors.
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

// Copies within a GPU up to this size cost little more than a launch; at twice the L2 cache,
// nothing is retained between two copies.
constexpr double kSmallCopy_bytes = 64.0 * kKiB;
constexpr double kPastCache = 2;

// Returns nullopt if no cache takes part: between a GPU and another device.
std::optional<CachedSizes> cached_sizes(Machine& machine, const TransferSeries& series) {
  if (series.mover == TransferMover::Threads) {
    // The smallest first-level cache, which one thread uses, and the last-level caches of the whole
    // device.
    const DeviceInfo& info = machine.at(series.to).info();
    std::optional<std::int64_t> smallest;
    for (const CacheInfo& cache : info.caches) {
      if (cache.level != 1) continue;
      smallest = std::min(smallest.value_or(cache.size_bytes), cache.size_bytes);
    }
    const std::int64_t first_bytes = smallest.value_or(32 * kKiB);
    const auto arrays = static_cast<double>(array_count(series.op));
    return CachedSizes{static_cast<double>(first_bytes) / arrays,
                       kPastCache * static_cast<double>(last_level_cache_bytes(info)) / arrays};
  }
  if (series.from != series.to) return std::nullopt;
  const auto l2 = static_cast<double>(machine.at(series.to).gpu()->facts().l2_bytes);
  return CachedSizes{kSmallCopy_bytes, kPastCache * l2};
}

const MeasuredSeries* find_copy(std::span<const MeasuredSeries> measured, Device from, Device to,
                                MemoryKind memory, TransferMover mover) {
  const MeasuredSeries* found = nullptr;
  for (const MeasuredSeries& m : measured) {
    const TransferSeries& s = m.series;
    if (s.op != TransferOp::Copy || s.from != from || s.to != to || s.memory != memory ||
        s.mover != mover) {
      continue;
    }
    if (found == nullptr || s.threads > found->series.threads) found = &m;
  }
  return found;
}

const TransferPoint* at_size(const MeasuredSeries& measured, double bytes) {
  const auto found = std::find_if(measured.points.begin(), measured.points.end(),
                                  [&](const TransferPoint& p) { return p.bytes == bytes; });
  return found == measured.points.end() ? nullptr : &*found;
}

TransferPayoff payoff(const MeasuredSeries& in, const MeasuredSeries& within,
                      const MeasuredSeries& out, const MeasuredSeries& host, int passes) {
  std::vector<TransferPoint> on_gpu, on_host;
  for (const TransferPoint& p : in.points) {
    const TransferPoint *w = at_size(within, p.bytes), *o = at_size(out, p.bytes),
                        *h = at_size(host, p.bytes);
    if (w == nullptr || o == nullptr || h == nullptr) continue;
    on_gpu.push_back({p.bytes, p.seconds + passes * w->seconds + o->seconds});
    on_host.push_back({p.bytes, passes * h->seconds});
  }
  TransferPayoff result;
  result.host = in.series.from;
  result.gpu = in.series.to;
  result.memory = in.series.memory;
  result.passes = passes;
  if (const auto bytes = break_even_bytes(on_gpu, on_host)) {
    result.from_bytes = std::llround(*bytes);
  }
  return result;
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
    // Refit without a latency: a negative one has no meaning.
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
    model.latency_s = constant_time(small);  // the time that the bytes add is below the noise
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

std::optional<TransferFit> fit_series(Machine& machine, const MeasuredSeries& measured) {
  const TransferSeries& series = measured.series;
  if (series.op == TransferOp::Chase) return std::nullopt;
  const auto cached = cached_sizes(machine, series);
  const auto model =
      cached ? fit_memory_model(measured.points, *cached) : fit_latency_model(measured.points);
  if (!model) return std::nullopt;
  auto fit = make_report<TransferFit>(series);
  fit.latency_s = model->latency_s;
  // Sizes are per array; the bandwidth counts all bytes moved, as in the samples.
  fit.gb_per_s = static_cast<double>(moved_bytes(series, 1)) / model->s_per_byte * 1e-9;
  fit.half_bandwidth_bytes = std::llround(model->latency_s / model->s_per_byte);
  fit.r2 = model->r2;
  return fit;
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

std::vector<TransferPayoff> payoffs(std::span<const MeasuredSeries> measured) {
  std::vector<TransferPayoff> found;
  for (const MeasuredSeries& in : measured) {
    const TransferSeries& s = in.series;
    if (s.op != TransferOp::Copy || s.mover != TransferMover::CopyEngine ||
        s.from.kind != DeviceKind::Cpu) {
      continue;
    }
    const auto* within =
        find_copy(measured, s.to, s.to, MemoryKind::OnGpu, TransferMover::CopyEngine);
    const auto* out = find_copy(measured, s.to, s.from, s.memory, TransferMover::CopyEngine);
    const auto* host =
        find_copy(measured, s.from, s.from, MemoryKind::Pageable, TransferMover::Threads);
    if (within == nullptr || out == nullptr || host == nullptr) continue;
    for (const int passes : {1, 10, 100}) {
      found.push_back(payoff(in, *within, *out, *host, passes));
    }
  }
  return found;
}

}  // namespace lab
