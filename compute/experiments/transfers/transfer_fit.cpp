#include "compute/experiments/transfers/transfer_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compute/core/language.h"

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

double residual_of(const LatencyModel& model, std::span<const TransferPoint> points) {
  double sum = 0;
  for (const TransferPoint& p : points) {
    const double error = (model.latency_s + p.bytes * model.s_per_byte) / p.seconds - 1;
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(points.size()));
}

std::size_t count_sizes(std::span<const TransferPoint> points) {
  std::vector<double> sizes;
  for (const TransferPoint& p : points) sizes.push_back(p.bytes);
  std::sort(sizes.begin(), sizes.end());
  return static_cast<std::size_t>(std::unique(sizes.begin(), sizes.end()) - sizes.begin());
}

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// The bytes that the threads of a series can keep in caches of one level; 0 if there are none. One
// thread uses a single cache; all threads use all caches of the device.
double cache_bytes(const DeviceInfo& info, int level, bool one_thread) {
  double bytes = 0;
  for (const CacheInfo& cache : info.caches) {
    if (cache.level != level) continue;
    const auto size = static_cast<double>(cache.size_bytes);
    if (one_thread) {
      bytes = bytes > 0 ? std::min(bytes, size) : size;
    } else {
      bytes += size * cache.instances;
    }
  }
  return bytes;
}

// With a cold cache every array lies in memory.
std::vector<LevelSize> level_sizes(Machine& machine, const TransferSeries& series,
                                   CacheState cache) {
  std::vector<LevelSize> levels;
  const auto arrays =
      static_cast<double>(moved_bytes(series, 1 << 20)) / static_cast<double>(1 << 20);
  if (series.mover == TransferMover::Threads && cache == CacheState::Warm) {
    const DeviceInfo& info = machine.at(series.to).info();
    for (const int level : {1, 2, 3}) {
      const double bytes = cache_bytes(info, level, series.threads == 1) / arrays;
      if (bytes > (levels.empty() ? 0 : levels.back().bytes)) {
        levels.push_back({fmt::format("L{}", level), bytes});
      }
    }
  } else if (series.mover != TransferMover::Threads && series.from == series.to) {
    const auto l2 = static_cast<double>(machine.at(series.to).gpu()->facts().l2_bytes);
    if (l2 > 0) levels.push_back({"L2", l2 / arrays});
  } else if (series.mover != TransferMover::Threads) {
    return {{LAB_TEXT("link"), kUnlimited}};
  }
  levels.push_back({LAB_TEXT("memory"), kUnlimited});
  return levels;
}

constexpr double kTie = 0.05;  // a smaller difference of two times is noise

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
  model.residual = residual_of(model, points);
  return model;
}

std::vector<TransferLevel> fit_levels(std::span<const TransferPoint> points,
                                      std::span<const LevelSize> levels, double moved_per_byte) {
  std::vector<TransferLevel> found;
  double above = 0;
  for (const LevelSize& level : levels) {
    std::vector<TransferPoint> held;
    for (const TransferPoint& p : points) {
      if (p.bytes > above && p.bytes <= level.bytes) held.push_back(p);
    }
    above = level.bytes;
    if (held.empty() && found.empty()) continue;
    TransferLevel& one = found.emplace_back();
    one.name = level.name;
    one.to_bytes = std::isfinite(level.bytes) ? static_cast<std::int64_t>(level.bytes) : 0;
    one.sizes = static_cast<int>(count_sizes(held));
    if (const auto model = fit_latency_model(held)) {
      one.latency_s = model->latency_s;
      one.gb_per_s = moved_per_byte / model->s_per_byte * 1e-9;
      one.residual = model->residual;
    }
  }
  while (!found.empty() && found.back().sizes == 0) found.pop_back();
  return found;
}

std::optional<TransferFit> fit_series(Machine& machine, const MeasuredSeries& measured,
                                      CacheState cache) {
  const TransferSeries& series = measured.series;
  if (series.op == TransferOp::Chase || measured.points.empty()) return std::nullopt;
  auto fit = make_report<TransferFit>(series);
  // Sizes are per array; the bandwidth counts all bytes moved, as in the samples.
  fit.levels = fit_levels(measured.points, level_sizes(machine, series, cache),
                          static_cast<double>(moved_bytes(series, 1)));
  return fit;
}

std::optional<FasterRange> faster_range(std::span<const TransferPoint> quick,
                                        std::span<const TransferPoint> slow) {
  const std::vector<Ratio> common = ratios(quick, slow);
  const double noise = std::log1p(kTie);
  const Ratio *first = nullptr, *last = nullptr;  // of the current range
  const Ratio *best_first = nullptr, *best_last = nullptr;
  for (const Ratio& r : common) {
    if (r.log_ratio > noise) first = nullptr;
    if (r.log_ratio >= -noise) continue;
    if (first == nullptr) first = &r;
    last = &r;
    if (best_first == nullptr || last - first > best_last - best_first) {
      best_first = first;
      best_last = last;
    }
  }
  if (best_first == nullptr) return std::nullopt;
  FasterRange range{.from_bytes = std::llround(best_first->bytes), .to_bytes = {}};
  if (best_last != &common.back()) range.to_bytes = std::llround(best_last->bytes);
  return range;
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
