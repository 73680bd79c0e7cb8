#include "ui/model/matmul_roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/core/units.h"

namespace lab::ui {
namespace {

constexpr int kPoints = 40;          // of a line, so that the pointer finds it everywhere
constexpr double kBeyond = 4;        // factor by which lines go on past the outermost ridges
constexpr double kMargin = 1.5;      // the same for what was measured
constexpr double kAboveRoof = 1.05;  // more than the spread of two measurements
constexpr double kNearRoof = 0.5;

std::string rate_text(double gflops) {
  return format_si(gflops * 1e9, "FLOP/s");
}

std::string share_text(double share) {
  return fmt::format("{:.{}f} %", share * 100, share < 0.0995 ? 1 : 0);
}

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
  if (reach.max == 0) reach = {0.1, 100};  // nothing says where to look
  return reach;
}

// Points from x0 to x1, even on a log axis, at y = rise * x where rise > 0, else at y = level.
void fill_line(CeilingLine& line, double x0, double x1, double rise, double level) {
  for (int i = 0; i < kPoints; ++i) {
    const double share = static_cast<double>(i) / (kPoints - 1);
    const double x = x0 * std::pow(x1 / x0, share);
    line.x.push_back(x);
    line.y.push_back(rise > 0 ? rise * x : level);
  }
}

// What to say where the kernel stays far below its roof.
std::string far_below(const MatmulSample& s, const CeilingsMeasured& ceilings, double share) {
  if (share >= kNearRoof) return "";
  for (const ComputeCeiling& c : ceilings.compute) {
    if (c.dtype != s.dtype || c.threads != 1 || ceilings.threads == 1) continue;
    const double of_one = s.gflops / c.gflops;
    if (of_one < kNearRoof || of_one > 1.05) continue;
    return fmt::format("; of what one thread can do, {}, it reaches {}", rate_text(c.gflops),
                       share_text(of_one));
  }
  return "; so far below a roof, a kernel moves more bytes than it must or lets the units wait";
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
    line.label = b.name;
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

std::string limit_sentence(const MatmulSample& s, const CeilingsMeasured& ceilings,
                           CacheState cache) {
  const Roof roof = roof_over(ceilings, s, cache);
  const std::string what = fmt::format("{} at N = {}", s.kernel, s.n);
  if (roof.gflops <= 0) return fmt::format("No ceiling is known for {}.", what);
  const double share = s.gflops / roof.gflops;
  if (share > kAboveRoof) {
    return fmt::format(
        "{} reaches {}, above the {} of its roof: the machine was busy while the ceilings were "
        "measured, or the kernel uses units that they do not.",
        what, rate_text(s.gflops), rate_text(roof.gflops));
  }
  const std::string end =
      fmt::format("it reaches {} of that{}.", share_text(share), far_below(s, ceilings, share));
  const std::string units = roof.compute == nullptr ? ""
                                                    : fmt::format("the multiply-add units do {}",
                                                                  rate_text(roof.compute->gflops));
  if (roof.level == nullptr) return fmt::format("{}: {}, and {}", what, units, end);
  const std::string feeds = rate_text(roof.level->gb_per_s * arithmetic_intensity(s));
  if (roof.compute == nullptr) {
    return fmt::format("{}: {} can feed {}, and {}", what, roof.level->name, feeds, end);
  }
  if (roof.by_memory) {
    return fmt::format("{} is limited by memory, not by compute: {}, but {} feeds only {}, and {}",
                       what, units, roof.level->name, feeds, end);
  }
  return fmt::format("{} is limited by compute, not by memory: {} could feed {}, {}, and {}", what,
                     roof.level->name, feeds, units, end);
}

}  // namespace lab::ui
