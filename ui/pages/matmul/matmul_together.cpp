// The Matmul page's results of products on several devices at once.
#include <fmt/format.h>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/matmul_results.h"
#include "ui/pages/matmul/matmul_parts.h"

namespace lab::ui {
namespace {

const TogetherSample* sample_at(const MatmulResults& results, Device device, std::int64_t n) {
  for (const TogetherSample& s : results.together) {
    if (s.device == device && s.n == n) return &s;
  }
  return nullptr;
}

void speedup_row(const Panel& p, const MatmulResults& results, const TogetherSpeedup& e) {
  Ui& ui = p.ui;
  table_row(ui);
  cell(ui, std::to_string(e.n));
  for (const Device device : e.devices) {
    const TogetherSample* s = sample_at(results, device, e.n);
    cell(ui, s == nullptr ? "" : gflops_text(s->gflops), s == nullptr ? "" : timing_text(s->time));
  }
  const auto products = static_cast<double>(e.products);
  cell(ui, format_seconds(e.in_sequence_s / products),
       trf("{} products per device, all on {}", e.products, to_string(e.devices.front())));
  cell(ui, format_seconds(e.at_once_s / products), trf("{} products on each device", e.products));
  const std::string speedup = fmt::format("{:.2f}x", e.speedup);
  cell(ui, is_unsteady(e) ? trf("{}, unsteady", speedup) : speedup,
       trf("Median of {} rounds; {:.2f}x to {:.2f}x in four fifths of them", e.rounds, e.p10,
           e.p90));
}

std::string best_sentence(const MatmulResults& results) {
  const TogetherSpeedup* best = results.best_speedup();
  if (best == nullptr) {
    return tr("Too unsteady for a speed-up: stop other programs, or raise the time per case.");
  }
  return trf(
      "At best {:.2f} times as fast as one device, at N = {}; {} devices that share "
      "nothing would be {} times as fast.",
      best->speedup, best->n, best->devices.size(), best->devices.size());
}

}  // namespace

void draw_matmul_together(const Panel& p, const Kept<MatmulResults>& kept) {
  const MatmulResults& results = shown(kept);
  Card card(p, "matmul/together_card", tr("Devices at once"),
            {.hint = tr("The same products on all devices at once, and in sequence on the first "
                        "one"),
             .dimmed = is_old(kept)});
  if (!card) return;
  if (results.speedups.empty()) {
    muted(p.ui, tr("Both orders alternate; the first size is being measured."));
    return;
  }
  const TogetherSpeedup& first = results.speedups.front();
  std::vector<std::string> names = {LAB_TEXT("Size N")};
  for (const Device device : first.devices) names.push_back(to_string(device));
  std::vector<Column> columns;
  columns.reserve(names.size() + 3);
  for (const std::string& name : names) columns.push_back({.label = name, .number = true});
  const char* const time_hint =
      LAB_TEXT("Time of one product per device, from the round whose speed-up is the median.");
  columns.push_back({.label = LAB_TEXT("In sequence"), .number = true, .hint = time_hint});
  columns.push_back({.label = LAB_TEXT("At once"), .number = true, .hint = time_hint});
  columns.push_back(
      {.label = LAB_TEXT("Speed-up"),
       .weight = 1.4F,
       .number = true,
       .hint = LAB_TEXT("In sequence / at once. Unsteady: the rounds vary by more than a "
                        "quarter, p10 to p90.")});
  if (begin_table(p.ui, "matmul/together_rows", columns)) {
    for (const TogetherSpeedup& e : results.speedups) speedup_row(p, results, e);
    end_table(p.ui);
  }
  muted(p.ui, best_sentence(results));
  if (first.shares_cores) {
    note_box(
        p.ui, "matmul/shares_cores",
        tr("The devices share cores, so that they cannot be faster at once than in sequence."));
  }
}

}  // namespace lab::ui
