#include "ui/model/transfer_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/history.h"

namespace lab::ui {
namespace {

// Index at which a sample of `bytes` is, or is to be inserted, in a column of sizes.
std::size_t position(const Column64& sizes, double bytes) {
  return static_cast<std::size_t>(std::lower_bound(sizes.begin(), sizes.end(), bytes) -
                                  sizes.begin());
}

void put(Column64& column, std::size_t i, bool replace, double value) {
  if (replace) {
    column[i] = value;
  } else {
    column.insert(column.begin() + static_cast<std::ptrdiff_t>(i), value);
  }
}

// GB/s if the same bytes took `seconds` instead of the median.
double at_time(const TransferSample& s, double seconds) {
  return seconds > 0 ? s.gb_per_s * s.time.median_s / seconds : s.gb_per_s;
}

void add_to_curve(TransferCase& c, const TransferSample& s) {
  const auto bytes = static_cast<double>(s.bytes);
  const std::size_t i = position(c.bytes, bytes);
  const bool replace = i < c.bytes.size() && c.bytes[i] == bytes;
  if (replace) {
    c.samples[i] = s;
  } else {
    c.samples.insert(c.samples.begin() + static_cast<std::ptrdiff_t>(i), s);
  }
  put(c.bytes, i, replace, bytes);
  put(c.gb_per_s, i, replace, s.gb_per_s);
  put(c.gb_low, i, replace, at_time(s, s.time.p90_s));
  put(c.gb_high, i, replace, at_time(s, s.time.p10_s));
  put(c.time_s, i, replace, s.time.median_s);
  put(c.time_low, i, replace, s.time.p10_s);
  put(c.time_high, i, replace, s.time.p90_s);
}

}  // namespace

std::string TransferCase::label(bool with_devices) const {
  std::string text(to_string(op));
  if (from != to) {
    text += " " + trf("{} to {}", lab::to_string(from), lab::to_string(to));
  } else if (with_devices || from != Device{}) {
    text += " " + lab::to_string(from);
  }
  if (memory == MemoryKind::Pinned) text += std::string(", ") + tr("pinned");
  return text + ", " + moved_by(mover, peer, threads);
}

template <typename Result>
TransferCase& TransferResults::at(const Result& r) {
  for (TransferCase& c : cases) {
    if (c.from == r.from && c.to == r.to && c.memory == r.memory && c.op == r.op &&
        c.threads == r.threads && c.mover == r.mover && c.peer == r.peer) {
      return c;
    }
  }
  TransferCase& added = cases.emplace_back();
  added.from = r.from;
  added.to = r.to;
  added.memory = r.memory;
  added.op = r.op;
  added.threads = r.threads;
  added.mover = r.mover;
  added.peer = r.peer;
  return added;
}

void TransferResults::add(const TransferSample& s, double t_s) {
  TransferCase& c = at(s);
  add_to_curve(c, s);
  if (s.op == TransferOp::Copy) {
    const auto at = std::ranges::lower_bound(copy_sizes_, s.bytes);
    if (at == copy_sizes_.end() || *at != s.bytes) copy_sizes_.insert(at, s.bytes);
  }
  if (!request.live) return;
  c.live_t_s.push_back(t_s - started_t_s);
  c.live_gb_per_s.push_back(s.gb_per_s);
  keep_recent(c.live_t_s, {&c.live_gb_per_s});
}

void TransferResults::add(const TransferFit& fit) {
  at(fit).fit = fit;
}

const TransferSample* TransferResults::best_copy(Device from, Device to, std::int64_t bytes) const {
  const TransferSample* best = nullptr;
  for (const TransferCase& c : cases) {
    if (c.from != from || c.to != to || c.op != TransferOp::Copy) continue;
    for (const TransferSample& s : c.samples) {
      if (s.bytes == bytes && (best == nullptr || s.gb_per_s > best->gb_per_s)) best = &s;
    }
  }
  return best;
}

std::vector<std::pair<Device, Device>> TransferResults::pairs() const {
  std::vector<std::pair<Device, Device>> found;
  for (const TransferCase& c : cases) {
    const std::pair pair(c.from, c.to);
    if (std::find(found.begin(), found.end(), pair) == found.end()) found.push_back(pair);
  }
  return found;
}

namespace {

// Whether a sample of sizes above `from_bytes` comes near the bandwidth of the level's line; true
// without samples.
bool is_reached(const TransferLevel& level, std::int64_t from_bytes,
                std::span<const TransferSample> samples) {
  constexpr double kNear = 0.75;
  bool any = false, near = false;
  for (const TransferSample& s : samples) {
    const bool inside = level.to_bytes <= 0 || s.bytes <= level.to_bytes;
    if (s.bytes <= from_bytes || !inside) continue;
    any = true;
    near = near || s.gb_per_s >= kNear * level.gb_per_s;
  }
  return near || !any;
}

}  // namespace

std::string sentence(const TransferFit& fit, std::span<const TransferSample> samples) {
  std::vector<std::string> parts;
  std::int64_t from_bytes = 0;
  for (const TransferLevel& level : fit.levels) {
    const bool reached = is_reached(level, from_bytes, samples);
    from_bytes = level.to_bytes;
    if (!level.holds()) continue;
    const std::string flow = format_si(level.gb_per_s * 1e9, "B/s");
    const std::string where = level.to_bytes > 0 ? trf("{} in {}, up to {}", flow, tr(level.name),
                                                       format_bytes(level.to_bytes))
                                                 : trf("{} in {}", flow, tr(level.name));
    // The intercept of an outer level's line is not the time of an empty call.
    const bool per_call = &level == &fit.levels.front() && level.latency_s > 0;
    if (!reached) {
      if (per_call) {
        parts.push_back(trf("{} per call in {}", format_seconds(level.latency_s), tr(level.name)));
      }
      continue;
    }
    parts.push_back(per_call ? trf("{} per call, then {}", format_seconds(level.latency_s), where)
                             : where);
  }
  return parts.empty() ? "" : fmt::format("{}.", fmt::join(parts, "; "));
}

std::string headline(const TransferResults& results, const std::pair<Device, Device>& pair) {
  constexpr double kMuchSlower = 1.5;
  std::map<std::int64_t, const TransferSample*> copies;  // the fastest of each size
  for (const TransferCase& c : results.cases) {
    if (c.op != TransferOp::Copy || std::pair(c.from, c.to) != pair) continue;
    for (const TransferSample& s : c.samples) {
      const TransferSample*& known = copies[s.bytes];
      if (known == nullptr || s.gb_per_s > known->gb_per_s) known = &s;
    }
  }
  if (copies.size() < 2) return {};
  const auto rate_of = [](const auto& copy) { return copy.second->gb_per_s; };
  const TransferSample& fastest = *std::ranges::max_element(copies, {}, rate_of)->second;
  const TransferSample& smallest = *copies.begin()->second;
  const TransferSample& largest = *copies.rbegin()->second;
  const auto flow = [](const TransferSample& s) { return format_si(s.gb_per_s * 1e9, "B/s"); };
  const auto& [from, to] = pair;
  const std::string copied =
      from == to ? trf("Copies within {}", lab::to_string(from))
                 : trf("Copies from {} to {}", lab::to_string(from), lab::to_string(to));
  const std::string best = trf("{} with arrays of {}", flow(fastest), format_bytes(fastest.bytes));
  const double slower = fastest.gb_per_s / largest.gb_per_s;
  if (slower >= kMuchSlower) {
    return trf("{}: {}, {} with {}, {:.3g} times slower.", copied, best, flow(largest),
               format_bytes(largest.bytes), slower);
  }
  return trf("{}: {}; {} takes {}.", copied, best, format_bytes(smallest.bytes),
             format_seconds(smallest.time.median_s));
}

}  // namespace lab::ui
