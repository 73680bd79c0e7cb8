// Transfer results as a matrix, sentences, a table and timelines.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/transfers/transfer_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

double best_of_all(const TransferResults& results, const std::vector<Device>& devices) {
  double best = 0;
  for (const Device from : devices) {
    for (const Device to : devices) {
      best = std::max(best, results.best_copy_gb_per_s(from, to).value_or(0));
    }
  }
  return best;
}

void matrix_cell(const Panel& p, const TransferResults& results, Device from, Device to, ImVec2 min,
                 ImVec2 max, double best) {
  const Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::optional<double> value = results.best_copy_gb_per_s(from, to);
  const float share = value && best > 0 ? static_cast<float>(*value / best) : 0;
  const ImU32 fill = mix(ui.theme->raised, ui.theme->accent, 0.65F * share);
  list->AddRectFilled(min, max, styled(fill), ui.px(4));
  const std::string text = value ? fmt::format("{:.3g}", *value) : "";
  const ImVec2 size = text_size(ui.fonts.caption, text);
  draw_text_fitted(
      list, ui.fonts.caption,
      {std::max(min.x + 2, (min.x + max.x - size.x) / 2), (min.y + max.y - size.y) / 2},
      max.x - min.x - 4, ui.theme->text, text);
  hint_at(p.ui, min, max,
          value ? trf("From {} to {}: {}, the best copy measured", lab::to_string(from),
                      lab::to_string(to), gb_per_s_text(*value))
                : trf("From {} to {}: no copy measured", lab::to_string(from), lab::to_string(to)));
}

std::string spread_text(const Timing& t) {
  if (t.median_s <= 0) return "N/A";
  return fmt::format("{:.1f} %", 100 * (t.p90_s - t.p10_s) / t.median_s);
}

void sample_lines(const Panel& p, const TransferCase& c, CacheState cache, bool wide) {
  for (const TransferSample& s : c.samples) {
    table_row(p.ui);
    cell(p.ui, c.label(), describe(s, cache));
    cell(p.ui, format_bytes(s.bytes));
    cell(p.ui, gb_per_s_text(s.gb_per_s));
    if (wide) {
      cell(p.ui, format_seconds(s.time.median_s));
      cell(p.ui, std::to_string(s.time.n));
      cell(p.ui, spread_text(s.time));
    }
    cell(p.ui,
         s.time.unstable ? tr("unstable")
         : s.verified    ? tr("verified")
                         : tr("not verified"),
         s.time.unstable ? tr("The time limit was reached before the spread fell below 2 %.")
                         : tr("The result was compared with the expected one."));
  }
}

}  // namespace

void draw_transfer_matrix(const Panel& p, const Kept<TransferResults>& kept) {
  const std::vector<Device>& devices = p.model.devices();
  constexpr std::size_t kMax = 32;
  if (devices.size() < 2 || devices.size() > kMax) return;
  Card card(p, "transfers/matrix_card", tr("Copies between devices, GB/s"),
            {.hint = tr("Rows: source; columns: destination. The fastest size and thread count."),
             .dimmed = is_old(kept)});
  if (!card) return;
  Ui& ui = p.ui;
  const TransferResults& results = shown(kept);
  const double best = best_of_all(results, devices);
  const float label = ui.px(56);
  const auto n = static_cast<float>(devices.size());
  const float width = ImGui::GetContentRegionAvail().x;
  const float cell_width = std::min(ui.px(90), (width - label) / n);
  const float cell_height = ui.px(28);
  const Item item = control("transfers/matrix", {label + cell_width * n, cell_height * (n + 1)});
  if (!item.visible) return;
  record(ui, item, "transfers/matrix", "matrix", "copies between devices");
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (std::size_t row = 0; row < devices.size(); ++row) {
    const auto r = static_cast<float>(row);
    const float y = item.min.y + cell_height * (r + 1);
    const std::string name = lab::to_string(devices[row]);
    draw_text(list, ui.fonts.caption, {item.min.x, y + ui.px(7)}, ui.theme->muted, name);
    draw_text_fitted(list, ui.fonts.caption,
                     {item.min.x + label + cell_width * r + 2, item.min.y + ui.px(7)},
                     cell_width - 4, ui.theme->muted, name);
    for (std::size_t column = 0; column < devices.size(); ++column) {
      const float x = item.min.x + label + cell_width * static_cast<float>(column);
      matrix_cell(p, results, devices[row], devices[column], {x + 1, y + 1},
                  {x + cell_width - 1, y + cell_height - 1}, best);
    }
  }
}

void draw_transfer_sentences(const Panel& p, const Kept<TransferResults>& kept) {
  const TransferResults& results = shown(kept);
  const bool any = std::any_of(results.cases.begin(), results.cases.end(),
                               [](const TransferCase& c) { return c.fit.has_value(); });
  if (!any && results.payoffs.empty()) return;
  Card card(p, "transfers/fits", tr("Transfer cost"),
            {.hint = tr("time = fixed cost + bytes / bandwidth, fitted over the measured sizes."),
             .dimmed = is_old(kept)});
  if (!card) return;
  for (const TransferCase& c : results.cases) {
    if (!c.fit) continue;
    body(p.ui, fmt::format("{}: {}", c.label(), sentence(*c.fit)));
    hint(p.ui, trf("Fit over {} sizes; r² of log time {:.3f}.", c.samples.size(), c.fit->r2));
  }
  for (const TransferPayoff& payoff : results.payoffs) {
    body(p.ui, describe(payoff));
    hint(p.ui,
         tr("Assumes one copy each way and passes that cost as much as a copy on each side."));
  }
}

void draw_transfer_table(const Panel& p, const Kept<TransferResults>& kept) {
  const TransferResults& results = shown(kept);
  Card card(p, "transfers/table_card", "", {.dimmed = is_old(kept)});
  if (!card) return;
  foldout(p.ui, "transfers/show_table", tr("All samples and skipped cases"),
          p.view.forms.transfers.show_table);
  if (!p.view.forms.transfers.show_table) return;
  const bool wide = width_left(p) > 640;
  std::vector<Column> columns = {
      {LAB_TEXT("Case"), 2, false, {}},
      {LAB_TEXT("Size"), 1, true, LAB_TEXT("Of one array.")},
      {LAB_TEXT("Bandwidth"), 1.2F, true, LAB_TEXT("Bytes moved divided by the median time.")}};
  if (wide) {
    columns.push_back({LAB_TEXT("Median"), 1, true, LAB_TEXT("Median of the repetition times.")});
    columns.push_back({"n", 0.6F, true, LAB_TEXT("Timed repetitions, excluding warm-up.")});
    columns.push_back({LAB_TEXT("p10 to p90"), 1, true,
                       LAB_TEXT("Spread of the times, as a share of the median.")});
  }
  columns.push_back({LAB_TEXT("State"), 1, false, {}});
  if (begin_table(p.ui, "transfers/table", columns)) {
    for (const TransferCase& c : results.cases) {
      sample_lines(p, c, results.request.cache, wide);
    }
    end_table(p.ui);
  }
  for (const Skipped& s : results.skipped) {
    muted(p.ui, trf("Skipped {}: {}", s.what, tr(s.reason)));
  }
}

// --- timelines: one row per stream of a GPU, one bar per piece of work ----------------------

namespace {

std::vector<std::string> streams_of(const TransferTimeline& timeline) {
  std::vector<std::string> streams;
  for (const TransferSpan& span : timeline.spans) {
    if (std::find(streams.begin(), streams.end(), span.stream) == streams.end()) {
      streams.push_back(span.stream);
    }
  }
  return streams;
}

std::string summary(const TransferTimeline& t) {
  return trf("{}: parts of {}: {} on three streams, {} on one; median of {} runs each.",
             lab::to_string(t.device), format_bytes(t.bytes), format_seconds(t.overlapped_s),
             format_seconds(t.serial_s), t.runs);
}

void bars(const Panel& p, const TransferTimeline& timeline) {
  Ui& ui = p.ui;
  const std::vector<std::string> streams = streams_of(timeline);
  const float label = ui.px(72), row_height = ui.px(24);
  const float width = std::max(ui.px(80), ImGui::GetContentRegionAvail().x - label);
  const std::string path = "transfers/timeline/" + lab::to_string(timeline.device);
  const Item item = control(path, {label + width, row_height * static_cast<float>(streams.size())});
  if (!item.visible) return;
  record(ui, item, path, "timeline", "streams of " + lab::to_string(timeline.device));
  double end_s = 0;
  for (const TransferSpan& span : timeline.spans) end_s = std::max(end_s, span.end_s);
  if (end_s <= 0) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (std::size_t row = 0; row < streams.size(); ++row) {
    const float y = item.min.y + row_height * static_cast<float>(row);
    draw_text(list, ui.fonts.caption, {item.min.x, y + ui.px(5)}, ui.theme->muted,
              tr(streams[row]));
    for (const TransferSpan& span : timeline.spans) {
      if (span.stream != streams[row]) continue;
      const auto at = [&](double t_s) {
        return item.min.x + label + width * static_cast<float>(t_s / end_s);
      };
      const ImVec2 min{at(span.begin_s), y + 2}, max{at(span.end_s) - 1, y + row_height - 2};
      list->AddRectFilled(min, max, styled(series_color(*ui.theme, static_cast<int>(row))),
                          ui.px(3));
      hint_at(
          ui, min, max,
          trf("{}: {} to {}", span.what, format_seconds(span.begin_s), format_seconds(span.end_s)));
    }
  }
}

}  // namespace

void draw_transfer_timelines(const Panel& p, const Kept<TransferResults>& kept) {
  const TransferResults& results = shown(kept);
  if (results.timelines.empty()) return;
  Card card(p, "transfers/timelines", tr("Copies overlapped with a kernel"),
            {.hint = tr(
                 "Timed with events before and after each operation, on three streams of the GPU."),
             .dimmed = is_old(kept)});
  if (!card) return;
  for (const TransferTimeline& timeline : results.timelines) {
    body(p.ui, summary(timeline));
    bars(p, timeline);
  }
}

}  // namespace lab::ui
