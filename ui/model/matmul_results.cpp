#include "ui/model/matmul_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/history.h"
#include "ui/model/job_result.h"
#include "ui/model/scaling_results.h"
#include "ui/model/texts.h"

namespace lab::ui {
namespace {

KernelResults& kernel_of(std::vector<KernelResults>& kernels, const MatmulSample& s) {
  for (KernelResults& k : kernels) {
    if (k.device == s.device && k.name == s.kernel) return k;
  }
  KernelResults& added = kernels.emplace_back();
  added.device = s.device;
  added.name = s.kernel;
  added.library = s.library;
  return added;
}

double at_time(const MatmulSample& s, double seconds) {
  return seconds > 0 ? s.gflops * s.time.median_s / seconds : s.gflops;
}

void add_to_curve(KernelResults& k, const MatmulSample& s) {
  const auto n = static_cast<double>(s.n);
  const auto at = std::lower_bound(k.size.begin(), k.size.end(), n) - k.size.begin();
  const auto i = static_cast<std::size_t>(at);
  if (i == k.size.size() || k.size[i] != n) {
    k.size.insert(k.size.begin() + at, n);
    k.gflops.insert(k.gflops.begin() + at, 0);
    k.gflops_low.insert(k.gflops_low.begin() + at, 0);
    k.gflops_high.insert(k.gflops_high.begin() + at, 0);
    k.unsteady.insert(k.unsteady.begin() + at, 0);
    k.samples.insert(k.samples.begin() + at, s);
  }
  k.samples[i] = s;
  k.gflops[i] = s.gflops;
  k.gflops_low[i] = at_time(s, s.time.p90_s);
  k.gflops_high[i] = at_time(s, s.time.p10_s);
  k.unsteady[i] = is_unsteady(s.time) ? 1 : 0;
}

}  // namespace

const MatmulSample* KernelResults::at(std::int64_t n) const {
  const auto found =
      std::find_if(samples.begin(), samples.end(), [n](const MatmulSample& s) { return s.n == n; });
  return found == samples.end() ? nullptr : &*found;
}

void MatmulResults::add(const MatmulSample& s, double t_s) {
  KernelResults& k = kernel_of(kernels, s);
  add_to_curve(k, s);
  if (!request.live) return;
  k.live_t_s.push_back(t_s - started_t_s);
  k.live_gflops.push_back(s.gflops);
  keep_recent(k.live_t_s, {&k.live_gflops});
}

void MatmulResults::add(const PeakSample& peak) {
  for (PeakSample& known : peaks) {
    if (known.device == peak.device && known.dtype == peak.dtype && known.threads == peak.threads) {
      known = peak;
      return;
    }
  }
  peaks.push_back(peak);
}

const PeakSample* MatmulResults::peak(Device device) const {
  const PeakSample* best = nullptr;
  for (const PeakSample& p : peaks) {
    if (p.device == device && (best == nullptr || p.gflops > best->gflops)) best = &p;
  }
  return best;
}

void MatmulResults::add(const CeilingsMeasured& measured) {
  for (CeilingsMeasured& known : ceilings) {
    if (known.device == measured.device) {
      known = measured;
      return;
    }
  }
  ceilings.push_back(measured);
}

const CeilingsMeasured* MatmulResults::ceilings_of(Device device) const {
  const auto found =
      std::find_if(ceilings.begin(), ceilings.end(),
                   [device](const CeilingsMeasured& c) { return c.device == device; });
  return found == ceilings.end() ? nullptr : &*found;
}

std::vector<std::int64_t> MatmulResults::sizes(Device device) const {
  std::set<std::int64_t> found;
  for (const KernelResults& k : kernels) {
    if (k.device != device) continue;
    for (const MatmulSample& s : k.samples) found.insert(s.n);
  }
  return {found.begin(), found.end()};
}

std::int64_t MatmulResults::largest_size(Device device) const {
  std::int64_t largest = 0;
  for (const KernelResults& k : kernels) {
    if (k.device == device && !k.samples.empty()) largest = std::max(largest, k.samples.back().n);
  }
  return largest;
}

std::vector<Device> MatmulResults::devices() const {
  std::vector<Device> found;
  for (const KernelResults& k : kernels) {
    if (std::find(found.begin(), found.end(), k.device) == found.end()) found.push_back(k.device);
  }
  return found;
}

const TogetherSpeedup* MatmulResults::best_speedup() const {
  const TogetherSpeedup* best = nullptr;
  for (const TogetherSpeedup& one : speedups) {
    if (is_unsteady(one)) continue;
    if (best == nullptr || one.speedup > best->speedup) best = &one;
  }
  return best;
}

bool is_unsteady(const TogetherSpeedup& speedup) {
  return varies_much(speedup.p10, speedup.p90) || speedup.speedup < speedup.p10 ||
         speedup.speedup > speedup.p90;
}

bool has_unsteady_figures(const MatmulResults& results) {
  if (results.request.live) return is_unsteady(results);
  const auto timed = [](const auto& one) { return is_unsteady(one.time); };
  const auto curve = [](const KernelResults& k) {
    return std::ranges::any_of(k.unsteady, [](double x) { return x != 0; });
  };
  const auto ceilings = [&](const CeilingsMeasured& c) {
    return std::ranges::any_of(c.compute, timed) || std::ranges::any_of(c.bandwidth, timed);
  };
  const auto speedup = [](const TogetherSpeedup& one) { return is_unsteady(one); };
  return std::ranges::any_of(results.kernels, curve) || std::ranges::any_of(results.peaks, timed) ||
         std::ranges::any_of(results.ceilings, ceilings) ||
         std::ranges::any_of(results.speedups, speedup);
}

std::string kernel_title(const std::vector<RungInfo>& rungs, Device device,
                         const std::string& name) {
  for (const RungInfo& rung : rungs) {
    if (rung.device == device && rung.name == name && !rung.title.empty()) return tr(rung.title);
  }
  return name;
}

// --- roofline -------------------------------------------------------------------------------

namespace {

constexpr int kPoints = 40;          // per line, so that hovering works along all of it
constexpr double kBeyond = 2;        // factor by which lines extend past the outermost ridges
constexpr double kMargin = 1.5;      // the same past the measured points
constexpr double kAboveRoof = 1.05;  // more than two measurements differ by
constexpr double kNearRoof = 0.5;

struct Reach {
  double min = std::numeric_limits<double>::infinity();
  double max = 0;
  void add(double x) {
    if (!(x > 0) || !std::isfinite(x)) return;
    min = std::min(min, x);
    max = std::max(max, x);
  }
};

double highest_gflops(const CeilingsMeasured& ceilings) {
  double top = 0;
  for (const ComputeCeiling& c : ceilings.compute) top = std::max(top, c.gflops);
  return top;
}

double highest_gb_per_s(const CeilingsMeasured& ceilings) {
  double top = 0;
  for (const BandwidthCeiling& b : ceilings.bandwidth) top = std::max(top, b.gb_per_s);
  return top;
}

Reach reach_of(const CeilingsMeasured& ceilings, const std::vector<double>& intensities) {
  Reach reach;
  for (const double x : intensities) {
    reach.add(x / kMargin);
    reach.add(x * kMargin);
  }
  const double top = highest_gflops(ceilings);
  for (const BandwidthCeiling& b : ceilings.bandwidth) {
    if (top <= 0 || b.gb_per_s <= 0) continue;
    reach.add(top / b.gb_per_s / kBeyond);
    reach.add(top / b.gb_per_s * kBeyond);
  }
  if (reach.max == 0) reach = {0.1, 100};  // default if there are no data
  return reach;
}

// Adds points from x0 to x1, evenly spaced on a log axis: y = rise * x if rise > 0, otherwise y =
// level.
void fill_line(CeilingLine& line, double x0, double x1, double rise, double level) {
  for (int i = 0; i < kPoints; ++i) {
    const double share = static_cast<double>(i) / (kPoints - 1);
    const double x = x0 * std::pow(x1 / x0, share);
    line.x.push_back(x);
    line.y.push_back(rise > 0 ? rise * x : level);
  }
}

// Explanation for a kernel that stays far below its roof, after "; "; otherwise empty.
std::string far_below(const MatmulSample& s, const CeilingsMeasured& ceilings, double share) {
  if (share >= kNearRoof) return "";
  for (const ComputeCeiling& c : ceilings.compute) {
    if (c.dtype != s.dtype || c.threads != 1 || ceilings.threads == 1) continue;
    const double of_one = s.gflops / c.gflops;
    if (of_one < kNearRoof || of_one > 1.05) continue;
    return "; " + trf("of the peak of one thread, {}, it reaches {}", format_gflops(c.gflops),
                      percent(of_one));
  }
  return std::string("; ") +
         tr("a kernel this far below its roof moves more bytes than necessary or leaves the units "
            "idle");
}

}  // namespace

std::string compute_label(const ComputeCeiling& c) {
  return c.threads == 0 ? c.name : c.name + ", " + workers_text(c.threads);
}

std::vector<CeilingLine> ceiling_lines(const CeilingsMeasured& ceilings,
                                       const std::vector<double>& intensities) {
  const Reach reach = reach_of(ceilings, intensities);
  const double top = highest_gflops(ceilings), widest = highest_gb_per_s(ceilings);
  std::vector<CeilingLine> lines;
  for (const BandwidthCeiling& b : ceilings.bandwidth) {
    if (b.gb_per_s <= 0) continue;
    CeilingLine& line = lines.emplace_back();
    line.bandwidth = &b;
    line.label = tr(b.name);
    fill_line(line, reach.min, top > 0 ? top / b.gb_per_s : reach.max, b.gb_per_s, 0);
  }
  for (const ComputeCeiling& c : ceilings.compute) {
    if (c.gflops <= 0) continue;
    CeilingLine& line = lines.emplace_back();
    line.compute = &c;
    line.label = compute_label(c);
    const double from = widest > 0 ? std::max(c.gflops / widest, reach.min) : reach.min;
    fill_line(line, from, reach.max, 0, c.gflops);
  }
  return lines;
}

KernelPoints kernel_points(const KernelResults& kernel) {
  KernelPoints points;
  points.kernel = &kernel;
  for (const MatmulSample& s : kernel.samples) {
    points.x.push_back(arithmetic_intensity(s));
    points.y.push_back(s.gflops);
  }
  return points;
}

bool limit_is_unsteady(const MatmulSample& s, const CeilingsMeasured& ceilings, CacheState cache) {
  const Roof roof = roof_over(ceilings, s, cache);
  const auto unknown = [](const Timing& t) { return is_unsteady(t) || has_few_repetitions(t); };
  return is_unsteady(s.time) || (roof.compute != nullptr && unknown(roof.compute->time)) ||
         (roof.level != nullptr && unknown(roof.level->time));
}

std::string limit_sentence(const MatmulSample& s, const CeilingsMeasured& ceilings,
                           CacheState cache) {
  const Roof roof = roof_over(ceilings, s, cache);
  const std::string what = trf("{} at N = {}", s.kernel, s.n);
  if (roof.gflops <= 0) return trf("No ceiling is known for {}.", what);
  const double share = s.gflops / roof.gflops;
  if (share > kAboveRoof) {
    return trf(
        "{} reaches {}, above the {} of its roof: the machine was busy while the ceilings were "
        "measured, or the kernel uses units that they do not cover.",
        what, format_gflops(s.gflops), format_gflops(roof.gflops));
  }
  const std::string reached = percent(share), remark = far_below(s, ceilings, share);
  const std::string units = roof.compute == nullptr ? "" : format_gflops(roof.compute->gflops);
  if (roof.level == nullptr) {
    return trf("{}: the multiply-add units do {}, and it reaches {} of that{}.", what, units,
               reached, remark);
  }
  const std::string level = tr(roof.level->name);
  const std::string feeds = format_gflops(roof.level->gb_per_s * arithmetic_intensity(s));
  if (roof.compute == nullptr) {
    return trf("{}: {} can feed {}, and it reaches {} of that{}.", what, level, feeds, reached,
               remark);
  }
  if (roof.by_memory) {
    return trf(
        "{} is limited by memory, not by compute: the multiply-add units do {}, but {} feeds only "
        "{}, and it reaches {} of that{}.",
        what, units, level, feeds, reached, remark);
  }
  return trf(
      "{} is limited by compute, not by memory: {} could feed {}, the multiply-add units do {}, "
      "and it reaches {} of that{}.",
      what, level, feeds, units, reached, remark);
}

}  // namespace lab::ui
