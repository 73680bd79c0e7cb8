// The Matmul page's results of products on several devices at once.
#include <fmt/format.h>

#include <algorithm>

#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/matmul_results.h"
#include "ui/pages/matmul/matmul_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

const TogetherSample* sample_at(const MatmulResults& results, Device device, std::int64_t n) {
  for (const TogetherSample& s : results.together) {
    if (s.device == device && s.n == n) return &s;
  }
  return nullptr;
}

// Whether the table has a column per device; otherwise one for all.
bool has_device_columns(const Panel& p, std::size_t devices) {
  return width_left(p) >= 430 + 105 * static_cast<float>(devices);
}

// "18.9–32.1 GFLOP/s", the slowest and the fastest device; all of them on hover.
void speed_range_cell(const Panel& p, const MatmulResults& results, const TogetherSpeedup& e) {
  double low = 0, high = 0;
  std::string all;
  for (const Device device : e.devices) {
    const TogetherSample* s = sample_at(results, device, e.n);
    if (s == nullptr) continue;
    low = all.empty() ? s->gflops : std::min(low, s->gflops);
    high = std::max(high, s->gflops);
    add_row(all, to_string(device), format_gflops(s->gflops));
  }
  const std::string most = format_gflops(high);
  std::string least = format_gflops(low);
  const std::string unit = most.substr(most.rfind(' '));
  if (least.ends_with(unit)) least.resize(least.size() - unit.size());
  cell(p.ui, all.empty() ? "" : fmt::format("{}–{}", least, most), all);
}

void speedup_row(const Panel& p, const MatmulResults& results, const TogetherSpeedup& e,
                 bool device_columns) {
  Ui& ui = p.ui;
  table_row(ui);
  cell(ui, std::to_string(e.n));
  if (!device_columns) speed_range_cell(p, results, e);
  for (const Device device : e.devices) {
    if (!device_columns) break;
    const TogetherSample* s = sample_at(results, device, e.n);
    cell(ui, s == nullptr ? "" : format_gflops(s->gflops),
         s == nullptr ? "" : timing_text(s->time));
  }
  const auto products = static_cast<double>(e.products);
  cell(ui, format_seconds(e.in_sequence_s / products),
       trf("Median of {} rounds of {} products, all on {}", e.rounds,
           e.products * static_cast<std::int64_t>(e.devices.size()), to_string(e.devices.front())));
  cell(ui, format_seconds(e.at_once_s / products),
       trf("Median of {} rounds of {} products on each device", e.rounds, e.products));
  const std::string speedup = fmt::format("{:.2f}x", e.speedup);
  const std::string rounds = trf("{} rounds, each in both orders", e.rounds);
  const bool unsteady = is_unsteady(e);
  cell(ui, unsteady ? trf("{}, unsteady", speedup) : speedup, rounds, unsteady);
  cell(ui, fmt::format("{:.2f}–{:.2f}", e.p10, e.p90), rounds);
}

std::vector<Column> together_columns(const std::vector<std::string>& devices, bool device_columns) {
  std::vector<Column> columns = {{.label = LAB_TEXT("Size N"), .weight = 0.6F, .number = true}};
  const char* const speed_hint = LAB_TEXT("Median speed while all devices multiply.");
  if (!device_columns) {
    columns.push_back(
        {.label = LAB_TEXT("Each device"), .weight = 1.8F, .number = true, .hint = speed_hint});
  }
  for (const std::string& device : devices) {
    if (device_columns) columns.push_back({.label = device, .number = true, .hint = speed_hint});
  }
  const char* const time_hint = LAB_TEXT("Median of the rounds.");
  columns.push_back(
      {.label = LAB_TEXT("In sequence"), .weight = 0.8F, .number = true, .hint = time_hint});
  columns.push_back(
      {.label = LAB_TEXT("Together"), .weight = 0.8F, .number = true, .hint = time_hint});
  columns.push_back({.label = LAB_TEXT("Speed-up"),
                     .weight = 1.2F,
                     .number = true,
                     .hint = LAB_TEXT("In sequence / together. Unsteady: the rounds vary by more "
                                      "than a quarter, p10 to p90, or disagree with it.")});
  columns.push_back({.label = LAB_TEXT("p10 to p90"),
                     .number = true,
                     .hint = LAB_TEXT("Percentiles of the rounds' speed-ups.")});
  return columns;
}

void speedup_plot(const Panel& p, const MatmulResults& results, bool old) {
  std::vector<const TogetherSpeedup*> sizes;
  for (const TogetherSpeedup& e : results.speedups) sizes.push_back(&e);
  std::ranges::sort(sizes, {}, &TogetherSpeedup::n);
  Column64 n, speedup, low, high, unsteady;
  for (const TogetherSpeedup* e : sizes) {
    n.push_back(static_cast<double>(e->n));
    speedup.push_back(e->speedup);
    low.push_back(e->p10);
    high.push_back(e->p90);
    unsteady.push_back(is_unsteady(*e) ? 1 : 0);
  }
  plot::Series series{.label = tr("Speed-up"),
                      .color = series_color(*p.ui.theme, 0),
                      .marker = plot::Marker::Circle,
                      .x = n,
                      .y = speedup,
                      .low = low,
                      .high = high,
                      .unsteady = unsteady};
  series.describe = [&sizes](std::size_t i) {
    const TogetherSpeedup& e = *sizes[i];
    return trf("N = {}: {:.2f} times as fast, p10 to p90 {:.2f} to {:.2f}, {} rounds", e.n,
               e.speedup, e.p10, e.p90, e.rounds);
  };
  const auto ideal = static_cast<double>(results.speedups.front().devices.size());
  const std::vector<plot::Reference> lines = {
      {tr("ideal"), ideal, p.ui.theme->muted, plot::Line::Dashed},
      {tr("one device"), 1, p.ui.theme->muted, plot::Line::Dashed}};
  plot::draw(p.ui, "matmul/plot/speedup",
             {.x = {.label = tr("size N"), .scale = plot::Scale::Log2, .whole = true},
              .y = {.label = tr("speed-up"), .min = 0}},
             std::span(&series, 1),
             {.height = 180, .grows = true, .references = lines, .legend = false, .dimmed = old},
             p.out);
}

std::string best_sentence(const MatmulResults& results) {
  const TogetherSpeedup* best = results.best_speedup();
  if (best == nullptr) {
    return trf("Too unsteady for a speed-up: stop other programs, or raise \"{}\".",
               tr(field_of(&StartMatmul::budget_s).label));
  }
  return trf(
      "At best {:.2f} times as fast as one device, at N = {}; {} devices that share "
      "nothing would be {} times as fast.",
      best->speedup, best->n, best->devices.size(), best->devices.size());
}

}  // namespace

void draw_matmul_together(const Panel& p, const Kept<MatmulResults>& kept) {
  const MatmulResults& results = shown(kept);
  Card card(p, "matmul/together_card", tr("Devices together"),
            {.extra = spare_height(p),
             .hint = tr("The same products on all devices at once, and in sequence on the first "
                        "one"),
             .dimmed = is_old(kept)});
  if (!card) return;
  if (results.speedups.empty()) {
    muted(p.ui, tr("Both orders alternate; the first size is being measured."));
    return;
  }
  const TogetherSpeedup& first = results.speedups.front();
  std::vector<std::string> names;
  for (const Device device : first.devices) names.push_back(to_string(device));
  caption(p.ui,
          trf("{} products: one after the other on {}, or one on each device at the same time.",
              names.size(), names.front()));
  const bool device_columns = has_device_columns(p, names.size());
  if (begin_table(p.ui, "matmul/together_rows", together_columns(names, device_columns))) {
    for (const TogetherSpeedup& e : results.speedups) speedup_row(p, results, e, device_columns);
    end_table(p.ui);
  }
  muted(p.ui, best_sentence(results));
  speedup_plot(p, results, is_old(kept));
  if (first.shares_cores) {
    note_box(p.ui, "matmul/shares_cores",
             tr("Devices that share cores bring no speed-up beyond the number of cores."));
  }
}

}  // namespace lab::ui
