// The measured ceilings of one device and the position of each kernel under them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/matmul_results.h"
#include "ui/model/scaling_results.h"
#include "ui/pages/matmul/matmul_parts.h"

namespace lab::ui {
namespace {

constexpr float kWideRoofline = 480;  // units; at least this wide, table and plot show every number
constexpr float kTrailAlpha = 0.35F;  // of a kernel's other sizes
constexpr float kChosenAlpha = 0.9F;  // of the other sizes of the chosen kernel

// What the card shows: the user's choice if it was measured, otherwise the most informative one.
struct Choice {
  Device device;
  std::int64_t size = 0;
  const MatmulSample* sample = nullptr;            // of the chosen kernel at that size
  std::vector<const KernelResults*> at_size = {};  // kernels of the device measured at that size
  const CeilingsMeasured* ceilings = nullptr;      // of the device
};

const KernelResults* choose_kernel(const std::vector<const KernelResults*>& kernels,
                                   const std::string& wanted, std::int64_t size) {
  const KernelResults* fastest = nullptr;
  for (const KernelResults* k : kernels) {
    if (k->name == wanted) return k;
    if (fastest == nullptr || (fastest->library && !k->library) ||
        (fastest->library == k->library && k->at(size)->gflops > fastest->at(size)->gflops)) {
      fastest = k;
    }
  }
  return fastest;
}

Choice choose(const Panel& p, const MatmulResults& results) {
  const MatmulForm& form = p.view.forms.matmul;
  Choice choice{.device = shown_device(p, results)};
  choice.ceilings = results.ceilings_of(choice.device);
  const std::vector<std::int64_t> sizes = results.sizes(choice.device);
  if (sizes.empty()) return choice;
  const bool measured = std::binary_search(sizes.begin(), sizes.end(), form.roofline_size);
  choice.size = measured ? form.roofline_size : sizes.back();
  for (const KernelResults* k : by_rung(p, results)) {
    if (k->device == choice.device && k->at(choice.size) != nullptr) choice.at_size.push_back(k);
  }
  // The kernel hovered on the ladder is selected here as well.
  std::string wanted = form.roofline_kernel;
  for (const KernelResults* k : choice.at_size) {
    if (form.hovered_kernel == kernel_key(k->device, k->name)) wanted = k->name;
  }
  const KernelResults* kernel = choose_kernel(choice.at_size, wanted, choice.size);
  if (kernel != nullptr) choice.sample = kernel->at(choice.size);
  return choice;
}

void draw_selectors(const Panel& p, const MatmulResults& results, const Choice& choice) {
  if (choice.sample == nullptr) return;
  MatmulForm& form = p.view.forms.matmul;
  std::vector<std::string> kernels;
  for (const KernelResults* k : choice.at_size) kernels.push_back(k->name);
  Row row(p.ui, {1, 1});
  row.next();
  choose_one(p,
             {.path = "matmul/roofline/size",
              .label = tr("Size N"),
              .hint = tr("The size marked on the plot; pale lines show the other sizes.")},
             results.sizes(choice.device), choice.size, form.roofline_size,
             [](std::int64_t n) { return std::to_string(n); });
  row.next();
  choose_one(p,
             {.path = "matmul/roofline/kernel",
              .label = tr("Kernel"),
              .hint = tr("The kernel described below.")},
             kernels, choice.sample->kernel, form.roofline_kernel, [&](const std::string& name) {
               return kernel_title(p.model.rungs(), choice.device, name);
             });
}

std::string how_measured(const ComputeCeiling& c) {
  std::string text = fmt::format(
      "{}\n{}", compute_label(c),
      tr("A loop of independent multiply-adds that reads no memory, the fastest repetition"));
  add_row(text, tr("fastest repetition"), format_gflops(c.gflops));
  return text + "\n" + timing_text(c.time);
}

// Returns what was read or copied, by whom.
std::string traffic_text(const BandwidthCeiling& b, int threads) {
  const std::string size = format_bytes(b.working_set_bytes), caches = format_bytes(b.cache_bytes);
  const bool cached = b.cache_bytes > 0;
  if (b.copied) {
    return cached ? trf("A kernel or the copy engine copies half of {} to the other half, with "
                        "caches of {}; bytes "
                        "read and written both count",
                        size, caches)
                  : trf("A kernel or the copy engine copies half of {} to the other half, far more "
                        "than the caches "
                        "can hold; bytes read and written both count",
                        size);
  }
  if (threads == 1) {
    return cached ? trf("1 thread sums {} repeatedly, with caches of {}; the sums are verified",
                        size, caches)
                  : trf("1 thread sums {} repeatedly, far more than the caches can hold; the sums "
                        "are verified",
                        size);
  }
  return cached
             ? trf("{} sum {} repeatedly, with caches of {}; the sums are verified",
                   workers_text(threads), size, caches)
             : trf("{} sum {} repeatedly, far more than the caches can hold; the sums are verified",
                   workers_text(threads), size);
}

std::string how_measured(const BandwidthCeiling& b, int threads) {
  std::string text = fmt::format("{}\n{}", tr(b.name), traffic_text(b, threads));
  add_row(text, tr("fastest repetition"), format_gb_per_s(b.gb_per_s));
  add_row(text, tr("speed, p10 to p90"),
          trf("{} to {}", format_gb_per_s(b.p10_gb_per_s), format_gb_per_s(b.p90_gb_per_s)));
  return text + "\n" + timing_text(b.time);
}

plot::Series ceiling_series(const Panel& p, const CeilingLine& line, const Choice& choice,
                            const Roof& roof) {
  const bool is_roof =
      line.compute != nullptr ? line.compute == roof.compute : line.bandwidth == roof.level;
  plot::Series s;
  s.label = line.label;
  s.color = is_roof ? p.ui.theme->text : p.ui.theme->muted;
  s.width = is_roof ? 2.0F : 1.2F;
  s.in_legend = false;
  s.line_label = line.label;
  s.x = line.x;
  s.y = line.y;
  s.describe = [&line, threads = choice.ceilings->threads](std::size_t) {
    return line.compute != nullptr ? how_measured(*line.compute)
                                   : how_measured(*line.bandwidth, threads);
  };
  return s;
}

std::string point_text(const Panel& p, const MatmulSample& s, const Choice& choice,
                       CacheState cache) {
  std::string text = trf("{} on {}", with_title(p, s).kernel, lab::to_string(s.device));
  add_row(text, tr("arithmetic intensity"),
          fmt::format("{:.3g} FLOP/byte", arithmetic_intensity(s)));
  const Roof roof = roof_over(*choice.ceilings, s, cache);
  if (roof.gflops > 0) {
    const std::string share = percent(s.gflops / roof.gflops);
    add_row(text, tr("share of its roof"),
            trf("{}, set by {}", share, roof.by_memory ? tr(roof.level->name) : tr("compute")));
  }
  return text + "\n" + measured_text(s, cache);
}

// Owns everything that the series reference while the plot is drawn.
struct PlotData {
  std::vector<CeilingLine> lines;
  std::deque<KernelPoints> trails, points;  // all sizes, the chosen size
  std::deque<Column64> unsteady;            // parallel to `points`, 1 where one is
  std::vector<plot::Series> series;
};

void add_kernel(const Panel& p, const KernelResults& k, const Choice& choice, CacheState cache,
                PlotData& data) {
  const KernelPoints& trail = data.trails.emplace_back(kernel_points(k));
  plot::Series s = kernel_series(p, k);
  const plot::Marker marker = s.marker;
  const MatmulSample* sample = k.at(choice.size);
  s.marker = plot::Marker::None;
  s.in_legend = sample == nullptr;  // otherwise its point is
  const bool chosen = choice.sample != nullptr && choice.sample->kernel == k.name;
  s.width = chosen ? 2.2F : 1.4F;
  s.alpha = chosen ? kChosenAlpha : kTrailAlpha;
  s.x = trail.x;
  s.y = trail.y;
  s.describe = [&p, &k, &choice, cache](std::size_t i) {
    return point_text(p, k.samples[i], choice, cache);
  };
  data.series.push_back(s);
  if (sample == nullptr) return;
  KernelPoints& point = data.points.emplace_back();
  point.kernel = &k;
  point.x = {arithmetic_intensity(*sample)};
  point.y = {sample->gflops};
  s.marker = marker;
  s.in_legend = true;
  s.alpha = 1;
  s.x = point.x;
  s.y = point.y;
  s.unsteady = data.unsteady.emplace_back(Column64{is_unsteady(sample->time) ? 1.0 : 0.0});
  s.describe = [&p, sample, &choice, cache](std::size_t) {
    return point_text(p, *sample, choice, cache);
  };
  data.series.push_back(std::move(s));
}

// Leaves space above the highest ceiling for its label.
std::optional<double> y_end(const PlotData& data) {
  double end = 0;
  for (const CeilingLine& line : data.lines) end = std::max(end, 2 * line.y.back());
  for (const KernelPoints& trail : data.trails) {
    for (const double y : trail.y) end = std::max(end, 1.2 * y);
  }
  return end > 0 ? std::optional(end) : std::nullopt;
}

// The device's kernels in an order whose first ones a short legend should show.
std::vector<const KernelResults*> chosen_and_fastest_first(const Panel& p,
                                                           const MatmulResults& results,
                                                           const Choice& choice) {
  std::vector<const KernelResults*> kernels = by_rung(p, results);
  std::erase_if(kernels, [&](const KernelResults* k) { return k->device != choice.device; });
  const auto rank = [&](const KernelResults* k) {
    const MatmulSample* sample = k->at(choice.size);
    const bool chosen = choice.sample != nullptr && choice.sample->kernel == k->name;
    return std::pair(chosen, sample != nullptr ? sample->gflops : 0);
  };
  std::ranges::stable_sort(kernels, std::greater(), rank);
  return kernels;
}

void draw_plot(const Panel& p, const MatmulResults& results, const Choice& choice, bool old) {
  PlotData data;
  std::vector<double> intensities;
  for (const KernelResults& k : results.kernels) {
    if (k.device != choice.device) continue;
    for (const MatmulSample& s : k.samples) intensities.push_back(arithmetic_intensity(s));
  }
  data.lines = ceiling_lines(*choice.ceilings, intensities);
  const CacheState cache = results.request.cache;
  Roof roof;
  if (choice.sample != nullptr) roof = roof_over(*choice.ceilings, *choice.sample, cache);
  for (const CeilingLine& line : data.lines) {
    data.series.push_back(ceiling_series(p, line, choice, roof));
  }
  for (const KernelResults* k : chosen_and_fastest_first(p, results, choice)) {
    add_kernel(p, *k, choice, cache, data);
  }
  const plot::Axes axes{
      .x = {.label = tr("arithmetic intensity, FLOP/byte"), .scale = plot::Scale::Log10},
      .y = {.label = "GFLOP/s", .scale = plot::Scale::Log10, .max = y_end(data)}};
  plot::draw(p.ui, "matmul/plot/roofline", axes, data.series,
             {.height = 290, .grows = true, .empty_text = tr("No ceiling yet"), .dimmed = old},
             p.out);
}

// What limits the chosen kernel, or that the measurement is too unsteady for an answer.
void draw_limit(const Panel& p, const MatmulResults& results, const Choice& choice) {
  const CacheState cache = results.request.cache;
  MatmulSample s = *choice.sample;
  s.kernel = kernel_title(p.model.rungs(), s.device, s.kernel);
  if (has_few_repetitions(s.time)) {
    const std::string speed = format_gflops(s.gflops);
    const std::string text =
        s.time.n == 1
            ? trf("Only one repetition of {} at N = {} fits the time limit, at {}: allow more time "
                  "per kernel to find its limit.",
                  s.kernel, s.n, speed)
            : trf("Only {} repetitions of {} at N = {} fit the time limit, at {}: allow more time "
                  "per kernel to find its limit.",
                  s.time.n, s.kernel, s.n, speed);
    muted(p.ui, text);
    record_item(p.ui, "matmul/limit", "text", text);
    return;
  }
  if (!limit_is_unsteady(s, *choice.ceilings, cache)) {
    const std::string text = limit_sentence(s, *choice.ceilings, cache);
    body(p.ui, text);
    record_item(p.ui, "matmul/limit", "text", text);
    return;
  }
  const auto at = [&](double seconds) {
    return format_gflops(seconds > 0 ? s.gflops * s.time.median_s / seconds : s.gflops);
  };
  warning_sentence(p, "matmul/limit",
                   trf("Too unsteady to find the limit of {} at N = {}: {} (p10 to p90: {} to {}).",
                       s.kernel, s.n, format_gflops(s.gflops), at(s.time.p90_s), at(s.time.p10_s)));
}

void roofline_card(const Panel& p, const MatmulResults& results, const Choice& choice, bool old) {
  Card card(
      p, "matmul/roofline_card", tr("Roofline"),
      {.hint = tr("Attainable performance at each arithmetic intensity: operations divided by the "
                  "compulsory bytes, 4 (M K + K N + M N) in f32, with A and B read once and C "
                  "written once. The lines are the highest rates measured on this machine."),
       .dimmed = old});
  if (!card) return;
  if (choice.ceilings == nullptr) {
    muted(p.ui, runs(p, Page::Matmul) && !old
                    ? tr("The ceilings are measured before the first kernel.")
                    : tr("No ceilings were measured in this run."));
    return;
  }
  draw_selectors(p, results, choice);
  if (choice.sample != nullptr) {
    draw_limit(p, results, choice);
  } else {
    muted(p.ui, tr("The ceilings are known; no kernel has been measured yet."));
  }
  draw_plot(p, results, choice, old);
}

// Returns all columns if `wide`; otherwise the remaining values are in tooltips.
std::vector<Column> columns_of(bool wide) {
  const char* const ridge_hint =
      tr("Ridge point: above this intensity, compute is the limit, not this level.");
  if (!wide) {
    return {{LAB_TEXT("Ceiling"), 1.95F, false, {}},
            {LAB_TEXT("Limit"), 1.3F, true, {}},
            {"FLOP/B", 0.75F, true, ridge_hint}};
  }
  return {{LAB_TEXT("Ceiling"), 1.9F, false, {}},
          {LAB_TEXT("Limit"), 1.1F, true, {}},
          {LAB_TEXT("Spread"), 0.9F, true, LAB_TEXT("Half of the range from p10 to p90.")},
          {"n", 0.5F, true, LAB_TEXT("Timed repetitions, excluding warm-up.")},
          {LAB_TEXT("Ridge, FLOP/byte"), 1.1F, true, ridge_hint}};
}

void ceilings_table(const Panel& p, const Choice& choice) {
  const CeilingsMeasured& ceilings = *choice.ceilings;
  const Precision dtype = choice.sample != nullptr ? choice.sample->dtype : Precision::F32;
  const bool wide = width_left(p) >= kWideRoofline;
  if (!begin_table(p.ui, "matmul/ceilings", columns_of(wide))) return;
  const auto row = [&](const std::string& name, const std::string& limit, const Timing& time,
                       const std::string& ridge_text, const std::string& how) {
    table_row(p.ui);
    cell(p.ui, name, how);
    cell(p.ui, limit, how, is_unsteady(time));
    if (wide) {
      cell(p.ui, half_spread(time), how);
      cell(p.ui, std::to_string(time.n), how);
    }
    cell(p.ui, ridge_text, how);
  };
  for (const ComputeCeiling& c : ceilings.compute) {
    row(compute_label(c), format_gflops(c.gflops), c.time, "", how_measured(c));
  }
  for (const BandwidthCeiling& b : ceilings.bandwidth) {
    const std::string name = tr(b.name);
    row(b.copied ? trf("{} copy", name) : trf("{} read", name), format_gb_per_s(b.gb_per_s), b.time,
        fmt::format("{:.2f}", ridge(ceilings, b, dtype)), how_measured(b, ceilings.threads));
  }
  end_table(p.ui);
}

// Returns the names of the ceilings whose measurement was unsteady.
std::string unstable_names(const CeilingsMeasured& ceilings) {
  std::vector<std::string> names;
  for (const ComputeCeiling& c : ceilings.compute) {
    if (is_unsteady(c.time)) names.push_back(compute_label(c));
  }
  for (const BandwidthCeiling& b : ceilings.bandwidth) {
    if (is_unsteady(b.time)) names.push_back(tr(b.name));
  }
  return fmt::format("{}", fmt::join(names, tr(", ")));
}

void ceilings_card(const Panel& p, const Choice& choice, bool old) {
  Card card(
      p, "matmul/ceilings_card", tr("Measured ceilings"),
      {.hint = tr("Highest rates of the whole device. Hover over one to see how it was measured."),
       .dimmed = old});
  if (!card) return;
  if (choice.ceilings == nullptr) {
    muted(p.ui, tr("None yet."));
    return;
  }
  caption(p.ui, lab::to_string(choice.device) + ", " + workers_text(choice.ceilings->threads));
  ceilings_table(p, choice);
  if (const std::string names = unstable_names(*choice.ceilings); !names.empty()) {
    warning_sentence(
        p, "matmul/unsteady_ceilings",
        trf("Not steady enough to find limits with: {}. The next run measures them again.", names));
  }
  muted(p.ui, tr("A kernel's intensity is its operations divided by the minimum bytes it moves: A "
                 "and B read once, C written once. Left of a level's ridge point, that level's "
                 "bandwidth is the limit; right of it, the multiply-add units are. A kernel below "
                 "the roof moves more bytes than necessary or leaves the units idle."));
}

}  // namespace

void draw_matmul_roofline(const Panel& p, const Kept<MatmulResults>& kept) {
  const MatmulResults& results = shown(kept);
  const bool old = is_old(kept);
  const Choice choice = choose(p, results);
  Pair pair(p, 680);
  pair.next();
  roofline_card(p, results, choice, old);
  pair.next();
  ceilings_card(p, choice, old);
}

}  // namespace lab::ui
