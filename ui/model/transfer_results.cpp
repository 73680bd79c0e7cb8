#include "ui/model/transfer_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/history.h"
#include "ui/model/job_result.h"
#include "ui/model/scaling_results.h"

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

// Whether the sample is a dip, now that those beside it are known.
void find_dip(TransferCase& c, std::size_t i) {
  if (i >= c.samples.size()) return;
  constexpr double kFar = 0.5;
  MeasuredTransfer& s = c.samples[i];
  s.dip = i > 0 && i + 1 < c.samples.size() &&
          s.gb_per_s < kFar * std::min(c.gb_per_s[i - 1], c.gb_per_s[i + 1]);
  c.unsteady[i] = is_unsteady(s) ? 1 : 0;
}

void add_to_curve(TransferCase& c, const MeasuredTransfer& s) {
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
  put(c.unsteady, i, replace, 0);
  if (i > 0) find_dip(c, i - 1);
  find_dip(c, i);
  find_dip(c, i + 1);
}

}  // namespace

bool is_disturbed(const MeasuredTransfer& sample) {
  constexpr double kNotable = 0.2;
  return sample.others >= kNotable;
}

bool is_unsteady(const MeasuredTransfer& sample) {
  return is_disturbed(sample) || is_unsteady(sample.time) || sample.dip;
}

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

void TransferResults::add(const TransferSample& s, double t_s, double taken) {
  TransferCase& c = at(s);
  add_to_curve(c, {s, taken});
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

const MeasuredTransfer* TransferResults::best_copy(Device from, Device to,
                                                   std::int64_t bytes) const {
  const MeasuredTransfer* best = nullptr;
  for (const TransferCase& c : cases) {
    if (c.from != from || c.to != to || c.op != TransferOp::Copy) continue;
    for (const MeasuredTransfer& s : c.samples) {
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
                std::span<const MeasuredTransfer> samples) {
  constexpr double kNear = 0.75;
  bool any = false, near = false;
  for (const MeasuredTransfer& s : samples) {
    const bool inside = level.to_bytes <= 0 || s.bytes <= level.to_bytes;
    if (s.bytes <= from_bytes || !inside) continue;
    any = true;
    near = near || s.gb_per_s >= kNear * level.gb_per_s;
  }
  return near || !any;
}

}  // namespace

std::string sentence(const TransferFit& fit, std::span<const MeasuredTransfer> samples) {
  std::vector<std::string> parts;
  std::int64_t from_bytes = 0;
  for (const TransferLevel& level : fit.levels) {
    const bool reached = is_reached(level, from_bytes, samples);
    from_bytes = level.to_bytes;
    if (!level.holds()) continue;
    const std::string flow = format_gb_per_s(level.gb_per_s);
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

namespace {

// The fastest copy of a size, and the case that it is of.
struct BestCopy {
  const TransferCase* of = nullptr;
  const MeasuredTransfer* sample = nullptr;
};

std::map<std::int64_t, BestCopy> best_copies(const TransferResults& results,
                                             const std::pair<Device, Device>& pair) {
  std::map<std::int64_t, BestCopy> copies;
  for (const TransferCase& c : results.cases) {
    if (c.op != TransferOp::Copy || std::pair(c.from, c.to) != pair) continue;
    for (const MeasuredTransfer& s : c.samples) {
      BestCopy& known = copies[s.bytes];
      if (known.sample == nullptr || s.gb_per_s > known.sample->gb_per_s) known = {&c, &s};
    }
  }
  return copies;
}

struct HeadlineCopies {
  BestCopy fastest, smallest, largest;
};

// Empty without two sizes.
std::optional<HeadlineCopies> headline_copies(const TransferResults& results,
                                              const std::pair<Device, Device>& pair) {
  const auto copies = best_copies(results, pair);
  if (copies.size() < 2) return std::nullopt;
  const auto rate_of = [](const auto& copy) { return copy.second.sample->gb_per_s; };
  return HeadlineCopies{std::ranges::max_element(copies, {}, rate_of)->second,
                        copies.begin()->second, copies.rbegin()->second};
}

bool is_much_slower(const HeadlineCopies& copies) {
  constexpr double kMuchSlower = 1.5;
  return copies.fastest.sample->gb_per_s / copies.largest.sample->gb_per_s >= kMuchSlower;
}

std::string load_text(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

// "264 GB/s", of a sample whose times vary with p10 to p90.
std::string flow_of(const MeasuredTransfer& s) {
  if (!is_unsteady(s.time)) return format_gb_per_s(s.gb_per_s);
  return trf("{} (p10 to p90: {} to {})", format_gb_per_s(s.gb_per_s),
             format_gb_per_s(at_time(s, s.time.p90_s)), format_gb_per_s(at_time(s, s.time.p10_s)));
}

// The level of memory that holds the copy, by the fit of its case; empty if it has none.
std::string level_of(const BestCopy& copy) {
  if (!copy.of->fit) return "";
  for (const TransferLevel& level : copy.of->fit->levels) {
    if (level.to_bytes <= 0 || copy.sample->bytes <= level.to_bytes) return tr(level.name);
  }
  return "";
}

// "264 GB/s in L1 with arrays of 16.0 KiB"
std::string part_of(const BestCopy& copy) {
  const std::string flow = flow_of(*copy.sample), level = level_of(copy);
  const std::string size = format_bytes(copy.sample->bytes);
  return level.empty() ? trf("{} with arrays of {}", flow, size)
                       : trf("{} in {} with arrays of {}", flow, level, size);
}

}  // namespace

bool headline_is_unsteady(const TransferResults& results, const std::pair<Device, Device>& pair) {
  const auto copies = headline_copies(results, pair);
  if (!copies) return false;
  const BestCopy& other = is_much_slower(*copies) ? copies->largest : copies->smallest;
  return is_unsteady(*copies->fastest.sample) || is_unsteady(*other.sample);
}

bool has_unsteady_samples(const TransferResults& results) {
  if (results.request.live) return is_unsteady(results);
  return std::ranges::any_of(results.cases, [](const TransferCase& c) {
    return std::ranges::any_of(c.unsteady, [](double x) { return x != 0; });
  });
}

bool is_mostly_unsteady(const TransferResults& results) {
  std::ptrdiff_t all = 0, marked = 0;
  for (const TransferCase& c : results.cases) {
    all += std::ssize(c.unsteady);
    marked += std::ranges::count_if(c.unsteady, [](double x) { return x != 0; });
  }
  return 2 * marked > all;
}

bool counts_both_ways(const std::pair<Device, Device>& pair) {
  return pair.first == pair.second || (!is_gpu(pair.first) && !is_gpu(pair.second));
}

std::string counted(std::string text, const std::pair<Device, Device>& pair) {
  return counts_both_ways(pair) ? trf("{}, read + write", text) : text;
}

std::string headline(const TransferResults& results, const std::pair<Device, Device>& pair) {
  const auto copies = headline_copies(results, pair);
  if (!copies) return {};
  const auto& [from, to] = pair;
  const std::string copied =
      counted(from == to ? trf("Copies within {}", lab::to_string(from))
                         : trf("Copies from {} to {}", lab::to_string(from), lab::to_string(to)),
              pair);
  const std::string best = part_of(copies->fastest);
  const MeasuredTransfer &fastest = *copies->fastest.sample, &largest = *copies->largest.sample;
  const bool slower = is_much_slower(*copies);
  if (slower && (is_disturbed(fastest) || is_disturbed(largest))) {
    return trf(
        "{}: {}, {}. Too disturbed to compare: others took {} of the cores' time during the "
        "first and {} during the second.",
        copied, best, part_of(copies->largest), load_text(fastest.others),
        load_text(largest.others));
  }
  if (slower && headline_is_unsteady(results, pair)) {
    return trf("{}: {}, {}. Too unsteady to compare.", copied, best, part_of(copies->largest));
  }
  if (slower) {
    return trf("{}: {}, {}, {:.3g} times slower.", copied, best, part_of(copies->largest),
               fastest.gb_per_s / largest.gb_per_s);
  }
  const MeasuredTransfer& smallest = *copies->smallest.sample;
  const std::string time =
      is_unsteady(smallest.time)
          ? trf("{} (p10 to p90: {} to {})", format_seconds(smallest.time.median_s),
                format_seconds(smallest.time.p10_s), format_seconds(smallest.time.p90_s))
          : format_seconds(smallest.time.median_s);
  return trf("{}: {}; {} takes {}.", copied, best, format_bytes(smallest.bytes), time);
}

}  // namespace lab::ui
