#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/headless/printer.h"
#include "app/headless/table.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

constexpr const char* kNone = "-";

// The longest first.
std::vector<ProfileLine> lines_of(const TrainingProfile& profile) {
  std::vector<ProfileLine> lines = profile.lines();
  std::stable_sort(lines.begin(), lines.end(), [](const ProfileLine& a, const ProfileLine& b) {
    return a.front()->time.median_s > b.front()->time.median_s;
  });
  return lines;
}

std::string time(const ProfileRow& row) {
  return row.time.n > 0 ? format_seconds(row.time.median_s) : kNone;
}

std::string speed(const ProfileRow& row) {
  return row.flop > 0 && row.time.n > 0 ? fmt::format("{:.1f}", row.gflops()) : kNone;
}

std::string of_peak(const TrainingProfile& profile, const ProfileRow& row) {
  const bool known = row.flop > 0 && row.time.n > 0 && profile.peak_gflops > 0;
  return known ? percent(profile.share_of_peak(row)) : kNone;
}

std::string traffic(const ProfileRow& row) {
  return row.bytes > 0 ? format_si(static_cast<double>(row.bytes), "B") : kNone;
}

std::string intensity(const ProfileRow& row) {
  return row.flop > 0 && row.bytes > 0 ? fmt::format("{:.1f}", row.intensity()) : kNone;
}

std::string method(const ProfileRow& row) {
  return row.method.empty() ? kNone : row.method;
}

std::string pass(const ProfileRow& row) {
  const bool layer = row.phase == StepPhase::Forward || row.phase == StepPhase::Backward;
  return layer ? to_string(row.phase) : "";
}

int layer_width(const std::vector<ProfileLine>& lines) {
  int width = 0;
  for (const ProfileLine& line : lines)
    width = std::max(width, display_width(line.front()->title()));
  return width;
}

void print_one(Console& console, const TrainingProfile& profile,
               const std::vector<ProfileLine>& lines) {
  const TableLayout layout({{"layer", layer_width(lines)},
                            {"pass", 8},
                            {"time", 8, true},
                            {"p10", 8, true},
                            {"p90", 8, true},
                            {"of step", 7, true},
                            {"GFLOP/s", 7, true},
                            {"of peak", 7, true},
                            {"traffic", 8, true},
                            {"FLOP/B", 6, true},
                            {"algorithm", 0}});
  console.line(layout.header());
  const double step_s = profile.totals.front().step.median_s;
  for (const ProfileLine& line : lines) {
    const ProfileRow& r = *line.front();
    console.line(layout.row({r.title(), pass(r), time(r), format_seconds(r.time.p10_s),
                             format_seconds(r.time.p90_s), percent(r.time.median_s / step_s),
                             speed(r), of_peak(profile, r), traffic(r), intensity(r), method(r)}));
  }
}

// "1.31x": how much longer the second takes than the first.
std::string ratio(const ProfileRow& first, const ProfileRow& second) {
  if (first.time.median_s <= 0 || second.time.median_s <= 0) return kNone;
  return fmt::format("{:.2f}x", second.time.median_s / first.time.median_s);
}

void print_both(Console& console, const TrainingProfile& profile,
                const std::vector<ProfileLine>& lines) {
  const TableLayout layout({{"layer", layer_width(lines)},
                            {"pass", 8},
                            {"lab", 8, true},
                            {"GFLOP/s", 7, true},
                            {"of peak", 7, true},
                            {"algorithm", 12},
                            {"library", 8, true},
                            {"GFLOP/s", 7, true},
                            {"of peak", 7, true},
                            {"algorithm", 9},
                            {"library/lab", 11, true},
                            {"traffic", 8, true},
                            {"FLOP/B", 6, true}});
  console.line(layout.header());
  for (const ProfileLine& line : lines) {
    const ProfileRow &a = *line[0], &b = *line[1];
    console.line(layout.row({a.title(), pass(a), time(a), speed(a), of_peak(profile, a), method(a),
                             time(b), speed(b), of_peak(profile, b), method(b), ratio(a, b),
                             traffic(a), intensity(a)}));
  }
}

// "batch 1.2 %, forward 31.0 %, ...": of the time of all steps together.
std::string phases(const ProfileTotal& total) {
  std::string text;
  for (const StepPhase phase : kStepPhases) {
    if (total.share(phase) <= 0) continue;
    const char* name = phase == StepPhase::AllReduce ? "all-reduce" : to_string(phase);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, percent(total.share(phase)));
  }
  return text;
}

void print_total(Console& console, const ProfileTotal& total) {
  console.line(fmt::format("{} kernels: step {} {}, rows together {}, unaccounted {}; {}",
                           to_string(total.kernels), format_seconds(total.step.median_s),
                           spread_text(total.step), format_seconds(total.rows.median_s),
                           format_seconds(total.unaccounted_s), phases(total)));
}

}  // namespace

void print_profile(Console& console, const TrainingProfile& profile) {
  const ProfileTotal& total = profile.totals.front();
  const std::int64_t warmup = total.step.warmup * static_cast<std::int64_t>(profile.totals.size());
  console.line("");
  if (std::any_of(profile.totals.begin(), profile.totals.end(),
                  [](const ProfileTotal& t) { return t.step.n == 0; })) {
    console.line(
        fmt::format("No profile: the first {} steps are warm-up; train for more of them", warmup));
    return;
  }
  console.line(fmt::format(
      "Layers on {}{}, {} images a step, {} thread{}: medians of {} steps{} after {} of warm-up",
      to_string(profile.device),
      profile.devices > 1 ? fmt::format(" (the first of {} devices)", profile.devices) : "",
      profile.images, profile.threads, profile.threads == 1 ? "" : "s", total.step.n,
      profile.totals.size() > 1 ? " with each kind of kernels" : "", warmup));
  const std::vector<ProfileLine> lines = lines_of(profile);
  if (profile.totals.size() > 1) {
    print_both(console, profile, lines);
  } else {
    print_one(console, profile, lines);
  }
  for (const ProfileTotal& t : profile.totals) print_total(console, t);
  console.line(
      fmt::format("Peak {} ({}), measured before the training. GFLOP/s count what the direct "
                  "algorithm computes: "
                  "Winograd computes less and can pass the peak. Traffic counts each array once.",
                  format_si(profile.peak_gflops * 1e9, "FLOP/s"), to_string(profile.dtype)));
}

}  // namespace lab::app
