// Transfer results as a matrix, sentences, a table and timelines.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/scaling_results.h"
#include "ui/pages/transfers/transfer_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr const char* kBandwidthHint = LAB_TEXT(
    "Bytes read plus bytes written, divided by the time; a copy to or from a GPU counts its "
    "bytes once.");

double best_of_all(const TransferResults& results, const std::vector<Device>& devices,
                   std::int64_t bytes) {
  double best = 0;
  for (const Device from : devices) {
    for (const Device to : devices) {
      if (const auto* s = results.best_copy(from, to, bytes)) best = std::max(best, s->gb_per_s);
    }
  }
  return best;
}

// "35.1", of an unsteady sample "35.1 (±12 %)" if it fits beside the mark.
std::string cell_text(const Ui& ui, const MeasuredTransfer& s, float width) {
  std::string text = times_text(s.gb_per_s);
  if (!is_unsteady(s)) return text;
  std::string both = with_spread(text, s.time);
  const float wide = text_size(ui.fonts.caption, both).x + ui.px(kWarningSide + 4);
  return wide <= width ? both : text;
}

// Why a pair has no copy of that size.
std::string why_not_copied(const Panel& p, const TransferResults& results, Device from, Device to,
                           std::int64_t bytes) {
  const auto asked = [](const std::vector<Device>& devices, Device device) {
    return devices.empty() || std::ranges::find(devices, device) != devices.end();
  };
  const StartTransfers& request = results.request;
  if (!is_timed(from) || !is_timed(to)) return tr("Emulated GPUs are not timed.");
  if (!asked(request.from, from) || !asked(request.to, to)) {
    return tr("Not among the devices of this run.");
  }
  if (&results == &p.model.transfers().current && runs(p, Page::Transfers)) {
    return tr("Not measured yet.");
  }
  const auto& pairs = results.pairs();
  return std::ranges::find(pairs, std::pair(from, to)) != pairs.end()
             ? trf("No copy of {} was measured.", format_bytes(bytes))
             : std::string(tr("No copy was measured: the run ended before, or skipped it."));
}

// A press shows the curves of the pair.
void matrix_cell(const Panel& p, const TransferResults& results, Device from, Device to,
                 std::int64_t bytes, ImVec2 min, ImVec2 max, double best) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::string path =
      fmt::format("transfers/matrix/{}/{}", lab::to_string(from), lab::to_string(to));
  const MeasuredTransfer* s = results.best_copy(from, to, bytes);
  const float share = s != nullptr && best > 0 ? static_cast<float>(s->gb_per_s / best) : 0;
  const ImU32 fill = mix(ui.theme->raised, ui.theme->accent, 0.45F * share);
  const Item item = control_at(path, min, max);
  if (item.pressed && s != nullptr) p.view.forms.transfers.shown_pair = {from, to};
  if (!item.visible) return;
  list->AddRectFilled(min, max, styled(fill), ui.px(4));
  if (shown_pair(p, results) == std::pair(from, to)) {
    list->AddRect(min, max, styled(ui.theme->accent), ui.px(4), 0, ui.px(1.5F));
  }
  focus_ring(ui, item, ui.px(4));
  const bool unsteady = s != nullptr && is_unsteady(*s);
  const std::string text = s != nullptr ? cell_text(ui, *s, max.x - min.x - 4) : "–";
  const float mark = unsteady ? ui.px(kWarningSide + 4) : 0;
  const ImVec2 size = text_size(ui.fonts.caption, text);
  const float left = std::max(min.x + 2, (min.x + max.x - size.x - mark) / 2);
  if (unsteady) draw_warning(ui, {left, (min.y + max.y) / 2});
  draw_text_fitted(list, ui.fonts.caption, {left + mark, (min.y + max.y - size.y) / 2},
                   max.x - left - mark - 2, s != nullptr ? ui.theme->text : ui.theme->muted, text);
  const std::string where = trf("{} to {}", lab::to_string(from), lab::to_string(to));
  hint(ui, s != nullptr ? where + "\n" + describe(*s, results.request.cache)
                        : where + "\n" + why_not_copied(p, results, from, to, bytes));
  record(ui, item, path, "cell", where, text);
}

// The size whose copies the matrix shows: the chosen one if it was measured, otherwise the largest.
std::int64_t matrix_bytes(const Panel& p, const std::vector<std::int64_t>& sizes) {
  const std::int64_t wanted = p.view.forms.transfers.matrix_bytes;
  const bool known = std::binary_search(sizes.begin(), sizes.end(), wanted);
  return known || sizes.empty() ? wanted : sizes.back();
}

// Names the devices if there are several.
std::string row_name(const Panel& p, const TransferCase& c) {
  return c.label(p.model.devices().size() > 1);
}

void sample_lines(const Panel& p, const TransferCase& c, CacheState cache, bool wide) {
  for (const MeasuredTransfer& s : c.samples) {
    table_row(p.ui);
    cell(p.ui, row_name(p, c), describe(s, cache));
    cell(p.ui, format_bytes(s.bytes));
    cell(p.ui, format_gb_per_s(s.gb_per_s), why_unsteady(s), is_unsteady(s));
    if (wide) {
      cell(p.ui, format_seconds(s.time.median_s));
      cell(p.ui, std::to_string(s.time.n));
      cell(p.ui, half_spread(s.time));
    }
    const bool unsteady = is_unsteady(s);
    cell(p.ui,
         unsteady     ? tr("unsteady")
         : s.verified ? tr("verified")
                      : tr("not verified"),
         unsteady ? why_unsteady(s) : tr("The result was compared with the expected one."));
  }
}

// `text` and, each on a line of its own, why the figure may be wrong although its times agree.
std::string with_reasons(std::string text, const MeasuredTransfer& s) {
  const auto add = [&](const std::string& reason) {
    if (!text.empty()) text += "\n";
    text += reason;
  };
  if (is_disturbed(s)) {
    add(trf("Other programs or the host took {} of the cores' time while it was measured.",
            percent(s.others)));
  }
  if (s.dip) {
    add(
        tr("Far below the sizes before and after it: measure again. If it stays, the addresses of "
           "the arrays collide in the cache."));
  }
  return text;
}

}  // namespace

std::string why_unsteady(const MeasuredTransfer& s) {
  return with_reasons(why_unsteady(s.time), s);
}

std::string describe(const MeasuredTransfer& s, CacheState cache) {
  return with_reasons(describe(static_cast<const TransferSample&>(s), cache), s);
}

bool has_transfer_matrix(const Panel& p, const TransferResults& results) {
  constexpr std::size_t kMost = 32;
  const std::size_t devices = p.model.devices().size();
  return devices >= 2 && devices <= kMost && !results.copy_sizes().empty();
}

namespace {

bool has_gpu_among(const std::vector<Device>& devices) {
  return std::ranges::any_of(devices,
                             [](Device device) { return is_gpu(device) && is_timed(device); });
}

std::string matrix_hint(const std::vector<Device>& devices) {
  std::string text =
      tr("Rows: source; columns: destination. The fastest thread count. Press a "
         "pair to see its curves.");
  if (!has_gpu_among(devices)) return text;
  return fmt::format("{} {}", text,
                     tr("Copies within a device and between CPU devices count the bytes read and "
                        "the bytes written, those to or from a GPU count them once."));
}

// Several CPU devices whose cores use one memory.
bool share_memory(const MachineInfo& machine) {
  std::set<int> nodes;
  int cpus = 0;
  for (const DeviceInfo& info : machine.devices) {
    if (info.device.kind != DeviceKind::Cpu) continue;
    ++cpus;
    nodes.insert(info.numa_nodes.begin(), info.numa_nodes.end());
  }
  return cpus > 1 && nodes.size() < 2;
}

}  // namespace

void draw_transfer_matrix(const Panel& p, const Kept<TransferResults>& kept) {
  const std::vector<Device>& devices = p.model.devices();
  const TransferResults& results = shown(kept);
  const std::vector<std::int64_t>& sizes = results.copy_sizes();
  constexpr float kSizeUnits = 220;  // of the choice of a size
  Card card(
      p, "transfers/matrix_card",
      trf("Copies between devices, {}",
          has_gpu_among(devices) ? std::string("GB/s") : counted("GB/s", {devices[0], devices[1]})),
      {.hint = matrix_hint(devices), .dimmed = is_old(kept)});
  if (!card) return;
  Ui& ui = p.ui;
  if (share_memory(p.model.machine())) {
    const std::string text =
        tr("The CPU devices share one memory: a copy between two of them costs "
           "about as much as one within a device.");
    muted(ui, text);
    record_item(ui, "transfers/shared_memory", "text", text);
  }
  const std::int64_t bytes = matrix_bytes(p, sizes);
  {
    Row row(ui, {-std::min(kSizeUnits, width_left(p)), 1});
    row.next();
    choose_one(
        p,
        {.path = "transfers/matrix_size",
         .label = tr("Size of one array"),
         .hint = tr("Small arrays are copied within the caches, large ones through memory.")},
        sizes, bytes, p.view.forms.transfers.matrix_bytes,
        [](std::int64_t size) { return format_bytes(size); });
  }
  const double best = best_of_all(results, devices, bytes);
  const std::string corner = tr("from / to");
  const float label = std::max(ui.px(56), text_size(ui.fonts.caption, corner).x + ui.px(12));
  const auto n = static_cast<float>(devices.size());
  const float width = ImGui::GetContentRegionAvail().x;
  const float cell_width = std::min(ui.px(150), (width - label) / n);
  const float cell_height = ui.px(28);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImGui::Dummy({label + cell_width * n, cell_height * (n + 1)});
  if (!ImGui::IsItemVisible()) return;
  record_item(ui, "transfers/matrix", "matrix", "copies between devices");
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_text(list, ui.fonts.caption, {origin.x, origin.y + ui.px(7)}, ui.theme->muted, corner);
  for (std::size_t row = 0; row < devices.size(); ++row) {
    const auto r = static_cast<float>(row);
    const float y = origin.y + cell_height * (r + 1);
    const std::string name = lab::to_string(devices[row]);
    draw_text(list, ui.fonts.caption, {origin.x, y + ui.px(7)}, ui.theme->muted, name);
    const float wide = std::min(cell_width - 4, text_size(ui.fonts.caption, name).x);
    draw_text_fitted(
        list, ui.fonts.caption,
        {origin.x + label + cell_width * r + (cell_width - wide) / 2, origin.y + ui.px(7)},
        wide + 1, ui.theme->muted, name);
    for (std::size_t column = 0; column < devices.size(); ++column) {
      const float x = origin.x + label + cell_width * static_cast<float>(column);
      matrix_cell(p, results, devices[row], devices[column], bytes, {x + 1, y + 1},
                  {x + cell_width - 1, y + cell_height - 1}, best);
    }
  }
}

namespace {

struct FitRow {
  const TransferCase* fitted;
  const TransferLevel* level;
};

std::vector<FitRow> fit_rows(const TransferResults& results) {
  std::vector<FitRow> rows;
  for (const TransferCase& c : results.cases) {
    if (!c.fit) continue;
    for (const TransferLevel& level : c.fit->levels) {
      if (level.sizes > 0) rows.push_back({&c, &level});
    }
  }
  return rows;
}

// Returns whether `a` is before `b` when sorted by a column; missing numbers are last.
bool before(const FitRow& a, const FitRow& b, const TableSort& sort) {
  constexpr int kCase = 0, kLevel = 1, kTo = 2, kFixed = 3, kBandwidth = 4;
  const auto number = [&](const FitRow& row) {
    const TransferLevel& l = *row.level;
    switch (sort.column) {
      case kTo: return l.to_bytes > 0 ? static_cast<double>(l.to_bytes) : kNoValue;
      case kFixed: return l.holds() ? l.latency_s : kNoValue;
      case kBandwidth: return l.holds() ? l.gb_per_s : kNoValue;
      default: return l.gb_per_s > 0 ? l.residual : kNoValue;
    }
  };
  if (sort.column == kCase || sort.column == kLevel) {
    const std::string x = sort.column == kCase ? a.fitted->label(true) : tr(a.level->name);
    const std::string y = sort.column == kCase ? b.fitted->label(true) : tr(b.level->name);
    return sort.descending ? y < x : x < y;
  }
  const double x = number(a), y = number(b);
  if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
  return sort.descending ? y < x : x < y;
}

std::string why_withheld(const TransferLevel& level) {
  if (level.gb_per_s <= 0) return tr("A line needs three sizes whose time grows.");
  return trf("The fit is off by {} (limit {}).", percent(level.residual),
             percent(kMaxTransferResidual));
}

// The sample that stands for a level without a line: of its middle size. Null: it has none.
const MeasuredTransfer* example_of(const TransferCase& c, const TransferLevel& level) {
  std::vector<const MeasuredTransfer*> within;
  std::int64_t from_bytes = 0;
  for (const TransferLevel& other : c.fit->levels) {
    if (&other == &level) break;
    from_bytes = other.to_bytes;
  }
  for (const MeasuredTransfer& s : c.samples) {
    if (s.bytes > from_bytes && (level.to_bytes <= 0 || s.bytes <= level.to_bytes)) {
      within.push_back(&s);
    }
  }
  return within.empty() ? nullptr : within[within.size() / 2];
}

// "1.00 MiB in 29.0 µs (±20 %)"
std::string example_text(const MeasuredTransfer& s) {
  return trf("{} in {}", format_bytes(s.bytes),
             with_spread(format_seconds(s.time.median_s), s.time));
}

// "36.2 GB/s (±20 %)"
std::string speed_text(const MeasuredTransfer& s) {
  return with_spread(format_gb_per_s(s.gb_per_s), s.time);
}

// A level that no line describes, and the sample that stands for it.
struct Example {
  const TransferLevel* level;
  const MeasuredTransfer* sample;
};

std::vector<Example> examples_of(const TransferCase& c) {
  std::vector<Example> examples;
  for (const TransferLevel& level : c.fit->levels) {
    const MeasuredTransfer* s = level.holds() ? nullptr : example_of(c, level);
    if (s != nullptr) examples.push_back({&level, s});
  }
  return examples;
}

void fit_line(const Panel& p, const FitRow& row) {
  const TransferLevel& level = *row.level;
  const MeasuredTransfer* example = level.holds() ? nullptr : example_of(*row.fitted, level);
  std::string why = level.holds() ? "" : why_withheld(level);
  if (example != nullptr) why += "\n" + trf("From one sample: {}.", example_text(*example));
  table_row(p.ui);
  cell(p.ui, row_name(p, *row.fitted));
  cell(p.ui, tr(level.name), trf("{} sizes measured", level.sizes));
  cell(p.ui, level.to_bytes > 0 ? format_bytes(level.to_bytes) : "");
  cell(p.ui, level.holds() ? format_seconds(level.latency_s) : "N/A", why);
  cell(p.ui,
       level.holds()        ? format_gb_per_s(level.gb_per_s)
       : example != nullptr ? speed_text(*example)
                            : "N/A",
       why, example != nullptr && is_unsteady(*example));
  cell(p.ui, level.gb_per_s > 0 ? fmt::format("{:.1f} %", level.residual * 100) : "N/A", why);
}

void fit_table(const Panel& p, const TransferResults& results) {
  static constexpr std::array kFitColumns = {
      Column{LAB_TEXT("Case"), 2.8F, false, {}},
      Column{LAB_TEXT("Level"), 0.8F, false, LAB_TEXT("Where the arrays fit.")},
      Column{LAB_TEXT("Up to"), 0.9F, true, LAB_TEXT("The largest array that the level holds.")},
      Column{LAB_TEXT("Fixed cost"), 1, true, LAB_TEXT("Of one call.")},
      Column{LAB_TEXT("Bandwidth"), 1.1F, true, kBandwidthHint},
      Column{LAB_TEXT("Residual"), 0.9F, true,
             LAB_TEXT("Root mean square of the line's relative errors.")}};
  TransferForm& form = p.view.forms.transfers;
  TableSort sort{form.fit_sort_column, form.fit_sort_down};
  if (!begin_table(p.ui, "transfers/fit_table", kFitColumns, 0, &sort)) return;
  form.fit_sort_column = sort.column;
  form.fit_sort_down = sort.descending;
  std::vector<FitRow> rows = fit_rows(results);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const FitRow& a, const FitRow& b) { return before(a, b, sort); });
  for (const FitRow& row : rows) fit_line(p, row);
  end_table(p.ui);
}

void example_table(const Panel& p, const std::string& path, const std::vector<Example>& examples) {
  constexpr float kWithTime = 480;  // units
  const bool wide = width_left(p) >= kWithTime;
  std::vector<Column> columns = {{LAB_TEXT("Level"), 1, false, LAB_TEXT("Where the arrays fit.")},
                                 {LAB_TEXT("Size"), 1, true, LAB_TEXT("Of one array.")}};
  if (wide) {
    columns.push_back({LAB_TEXT("Time"), 1, true, LAB_TEXT("Median of the repetition times.")});
  }
  columns.push_back({LAB_TEXT("Bandwidth"), 1.2F, true, kBandwidthHint});
  columns.push_back({LAB_TEXT("Spread"), 1, true, LAB_TEXT("Half of the range from p10 to p90.")});
  if (!begin_table(p.ui, path, columns)) return;
  for (const auto& [level, s] : examples) {
    const std::string time = format_seconds(s->time.median_s);
    table_row(p.ui);
    cell(p.ui, tr(level->name), why_withheld(*level));
    cell(p.ui, format_bytes(s->bytes));
    if (wide) cell(p.ui, time);
    cell(p.ui, format_gb_per_s(s->gb_per_s), is_unsteady(*s) ? why_unsteady(*s) : time,
         is_unsteady(*s));
    cell(p.ui, half_spread(s->time));
  }
  end_table(p.ui);
}

void transfer_cost(const Panel& p, const TransferResults& results) {
  const auto pair = shown_pair(p, results);
  int index = 0;
  const auto path = [&] { return fmt::format("transfers/cost/{}", index++); };
  const auto say = [&](const std::string& text) {
    body(p.ui, text);
    record_item(p.ui, path(), "text", text);
  };
  for (const TransferCase& c : results.cases) {
    if (!c.fit || c.op != TransferOp::Copy || std::pair(c.from, c.to) != pair) continue;
    caption(p.ui, counted(row_name(p, c), pair));
    const std::string fitted = sentence(*c.fit, c.samples);
    if (!fitted.empty()) say(trf("Lines fitted to the times: {}", fitted));
    if (const std::vector<Example> examples = examples_of(c); !examples.empty()) {
      say(fitted.empty() ? tr("No line fits the times; one measured copy of each level:")
                         : tr("No line fits the times of the other levels; one measured copy of "
                              "each:"));
      example_table(p, path(), examples);
    }
    if (c.fit->faster_than_one) say(describe_faster(*c.fit));
  }
  for (const TransferPayoff& payoff : results.payoffs) {
    say(describe(payoff));
    hint(p.ui, tr("Assumes one copy each way and passes that cost as much as a copy on each side. "
                  "The time "
                  "to queue work on the GPU, some microseconds per pass, is not counted."));
  }
}

}  // namespace

bool has_transfer_costs(const TransferResults& results) {
  return !fit_rows(results).empty() || !results.payoffs.empty();
}

void draw_transfer_costs(const Panel& p, const Kept<TransferResults>& kept) {
  const TransferResults& results = shown(kept);
  Card card(
      p, "transfers/fits", tr("Transfer cost"),
      {.hint = tr("time = fixed cost + bytes / bandwidth, fitted in each level of memory: the "
                  "bandwidth of a line excludes the fixed cost, so no size reaches it. "
                  "Where one case overtakes another is read from the samples."),
       .dimmed = is_old(kept)});
  if (!card) return;
  transfer_cost(p, results);
  bool& open = p.view.forms.transfers.show_fits;
  foldout(p.ui, "transfers/show_fits", tr("Every operation and level"), open);
  if (open) fit_table(p, results);
}

void draw_transfer_table(const Panel& p, const Kept<TransferResults>& kept) {
  const TransferResults& results = shown(kept);
  // A live run's cases hold their last readings only, which its own table sums up.
  if (results.request.live && results.skipped.empty()) return;
  Card card(p, "transfers/table_card", "", {.dimmed = is_old(kept)});
  if (!card) return;
  foldout(p.ui, "transfers/show_table", tr("All samples and skipped cases"),
          p.view.forms.transfers.show_table);
  if (!p.view.forms.transfers.show_table) return;
  const bool wide = width_left(p) > 640;
  std::vector<Column> columns = {{LAB_TEXT("Case"), 2.8F, false, {}},
                                 {LAB_TEXT("Size"), 1, true, LAB_TEXT("Of one array.")},
                                 {LAB_TEXT("Bandwidth"), 1.2F, true, kBandwidthHint}};
  if (wide) {
    columns.push_back({LAB_TEXT("Median"), 1, true, LAB_TEXT("Median of the repetition times.")});
    columns.push_back({"n", 0.6F, true, LAB_TEXT("Timed repetitions, excluding warm-up.")});
    columns.push_back(
        {LAB_TEXT("Spread"), 1, true, LAB_TEXT("Half of the range from p10 to p90.")});
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
      hint_at(ui, min, max, span_text(span.what, span.begin_s, span.end_s));
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
