#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "compute/core/events/measured_cases.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/live_rate.h"
#include "ui/pages/reference_parts.h"
#include "ui/pages/transfers/transfer_parts.h"
#include "ui/plot/plot.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr std::array<plot::Marker, 5> kMarkers = {plot::Marker::Circle, plot::Marker::Square,
                                                  plot::Marker::Triangle, plot::Marker::Diamond,
                                                  plot::Marker::Cross};
constexpr float kOldAlpha = 0.25F;

bool one_thread(const TransferCase& c) {
  return c.mover == TransferMover::Threads && c.threads == 1;
}
bool pageable_with_gpu(const TransferCase& c) {
  return c.mover != TransferMover::Threads && c.memory == MemoryKind::Pageable;
}

bool is_dashed(const TransferCase& c) {
  return one_thread(c) || pageable_with_gpu(c);
}

// Line: solid for several threads; dashed for one thread and for pageable memory with a GPU. Colour
// and marker identify the operation. Markers of kernels are hollow.
plot::Series case_series(const Panel& p, const TransferCase& c, bool old) {
  plot::Series s;
  s.label = c.label();
  s.group = to_string(c.op);  // across thread counts
  s.color = series_color(*p.ui.theme, static_cast<int>(c.op));
  s.line = is_dashed(c) ? plot::Line::Dashed : plot::Line::Solid;
  s.marker = kMarkers[static_cast<std::size_t>(c.op) % kMarkers.size()];
  s.hollow = c.mover == TransferMover::Kernel;
  if (old) {
    s.alpha = kOldAlpha;
    s.in_legend = false;
    s.marker = plot::Marker::None;
  }
  return s;
}

enum class TransferQuantity { Bandwidth, Time };

bool between(const TransferCase& c, const std::pair<Device, Device>& pair) {
  return c.from == pair.first && c.to == pair.second;
}

// Returns the pair's cases with samples, most threads first, so that the legend shows the solid
// line of each operation.
std::vector<const TransferCase*> by_threads(const TransferResults& results,
                                            const std::pair<Device, Device>& pair) {
  std::vector<const TransferCase*> cases;
  for (const TransferCase& c : results.cases) {
    if (!c.samples.empty() && between(c, pair)) cases.push_back(&c);
  }
  std::stable_sort(cases.begin(), cases.end(),
                   [](const auto* a, const auto* b) { return a->threads > b->threads; });
  return cases;
}

void add_curves(const Panel& p, const TransferResults& results,
                const std::pair<Device, Device>& pair, TransferQuantity quantity, bool old,
                std::vector<plot::Series>& out) {
  const CacheState cache = results.request.cache;
  const bool marked = !old && !is_mostly_unsteady(results);
  const bool time = quantity == TransferQuantity::Time;
  for (const TransferCase* one : by_threads(results, pair)) {
    const TransferCase& c = *one;
    plot::Series s = case_series(p, c, old);
    s.x = c.bytes;
    s.y = time ? c.time_s : c.gb_per_s;
    s.low = time ? c.time_low : c.gb_low;
    s.high = time ? c.time_high : c.gb_high;
    if (marked) s.unsteady = c.unsteady;
    s.describe = [&c, cache, old](std::size_t i) {
      return (old ? tr("previous run") + std::string("\n") : "") + describe(c.samples[i], cache);
    };
    out.push_back(std::move(s));
  }
}

// Adds the reference's cases, each in the colour of the matching case measured here.
void add_reference(const Panel& p, const ReferenceMachine& machine,
                   const std::pair<Device, Device>& pair, const Overlay<TransferCase>& fitting,
                   TransferQuantity quantity, std::vector<plot::Series>& out) {
  for (const ReferenceCurve<TransferCase>& curve : fitting.curves) {
    if (!between(*curve.here, pair)) continue;
    const TransferCase& there = *curve.there;
    const bool time = quantity == TransferQuantity::Time;
    out.push_back(reference_series(case_series(p, *curve.here, false), machine, curve, there.bytes,
                                   time ? there.time_s : there.gb_per_s));
  }
}

// The cases in the plots, those of the previous run too.
std::vector<const TransferCase*> drawn_cases(const Panel& p, const Kept<TransferResults>& kept) {
  const std::pair<Device, Device> pair = shown_pair(p, shown(kept));
  std::vector<const TransferCase*> cases = by_threads(shown(kept), pair);
  if (kept.previous && !kept.current.empty()) {
    for (const TransferCase* c : by_threads(*kept.previous, pair)) cases.push_back(c);
  }
  return cases;
}

// Whether lines of both kinds are drawn; otherwise all are solid.
bool has_both_kinds(const std::vector<const TransferCase*>& cases) {
  const auto dashed = [](const TransferCase* c) { return is_dashed(*c); };
  return std::ranges::any_of(cases, dashed) && !std::ranges::all_of(cases, dashed);
}

// Legend entries for the kinds of lines: "1 thread", "2 threads".
void add_thread_keys(const Panel& p, const std::vector<const TransferCase*>& cases,
                     std::vector<plot::Series>& out) {
  int most = 1;
  for (const TransferCase* c : cases) most = std::max(most, c->threads);
  for (const int threads : {1, most}) {
    plot::Series s;
    s.label = moved_by(TransferMover::Threads, PeerMode::None, threads);
    s.color = p.ui.theme->muted;
    s.line = threads == 1 ? plot::Line::Dashed : plot::Line::Solid;
    s.only_key = true;
    out.push_back(std::move(s));
  }
}

// `reference` may be null; `fitting` is then empty.
std::vector<plot::Series> curves(const Panel& p, const Kept<TransferResults>& kept,
                                 TransferQuantity quantity, const ReferenceResults* reference,
                                 const Overlay<TransferCase>& fitting) {
  const std::pair<Device, Device> pair = shown_pair(p, shown(kept));
  std::vector<plot::Series> series;
  if (reference != nullptr) {
    add_reference(p, reference->machine, pair, fitting, quantity, series);
  }
  if (kept.previous && !kept.current.empty()) {
    add_curves(p, *kept.previous, pair, quantity, true, series);
  }
  add_curves(p, shown(kept), pair, quantity, false, series);
  const std::vector<const TransferCase*> cases = drawn_cases(p, kept);
  if (!has_both_kinds(cases)) {
    for (plot::Series& s : series) {
      if (s.line == plot::Line::Dashed) s.line = plot::Line::Solid;
    }
  } else if (std::ranges::none_of(cases, [](const auto* c) { return pageable_with_gpu(*c); })) {
    add_thread_keys(p, cases, series);
  }
  if (!fitting.curves.empty()) {  // first, where a short legend shows it
    series.insert(series.begin(), reference_entry(p, reference->machine));
  }
  return series;
}

// Appends the meaning of dashed lines to `text` if there are any that the legend does not explain.
std::string title_with(const Panel& p, std::string_view text, const Kept<TransferResults>& kept) {
  const std::vector<const TransferCase*> cases = drawn_cases(p, kept);
  const auto any = [&](bool (*what)(const TransferCase&)) {
    return std::ranges::any_of(cases, [&](const TransferCase* c) { return what(*c); });
  };
  const bool one = any(one_thread), pageable = any(pageable_with_gpu);
  if (!has_both_kinds(cases)) {
    return one && !pageable ? fmt::format("{}   {}", text, tr("(1 thread)")) : std::string(text);
  }
  if (!pageable) return std::string(text);  // the legend has both kinds
  const char* const dashed =
      one ? tr("(dashed: 1 thread, or pageable memory)") : tr("(dashed: pageable memory)");
  return fmt::format("{}   {}", text, dashed);
}

// The fit whose levels of memory are drawn: of a copy, or of the first fitted case; of all threads
// if both were measured, as the solid lines. Null if no fit has several levels.
const TransferFit* drawn_levels(const std::vector<const TransferCase*>& cases) {
  const TransferFit* fit = nullptr;
  for (const TransferCase* c : cases) {
    if (!c->fit) continue;
    if (fit == nullptr || (c->op == TransferOp::Copy && fit->op != TransferOp::Copy)) {
      fit = &*c->fit;
    }
  }
  return fit == nullptr || fit->levels.size() < 2 ? nullptr : fit;
}

std::vector<plot::Band> level_bands(const std::vector<const TransferCase*>& cases) {
  std::vector<plot::Band> bands;
  const TransferFit* fit = drawn_levels(cases);
  if (fit == nullptr) return bands;
  for (const TransferLevel& level : fit->levels) {
    const bool ends = level.to_bytes > 0;
    bands.push_back(
        {tr(level.name),
         ends ? static_cast<double>(level.to_bytes) : std::numeric_limits<double>::infinity(),
         ends ? trf("{} (reported): holds arrays up to {}, by the cache size that the processor "
                    "reports. The line is not measured.",
                    tr(level.name), format_bytes(level.to_bytes))
              : trf("{}: arrays that exceed the largest cache that the processor reports.",
                    tr(level.name))});
  }
  return bands;
}

// Which bytes are counted, and to which operation the lines of the levels belong.
std::string counting_note(const std::vector<const TransferCase*>& cases,
                          const std::pair<Device, Device>& pair) {
  std::string text = counts_both_ways(pair)
                         ? tr("GB/s counts the bytes read and the bytes written: a copy of "
                              "1 MiB moves 2 MiB.")
                         : tr("GB/s counts the bytes of a copy once.");
  const TransferFit* fit = drawn_levels(cases);
  if (fit == nullptr) return text;
  const bool others = std::ranges::any_of(
      cases, [&](const TransferCase* c) { return array_count(c->op) != array_count(fit->op); });
  if (!others) return text;
  return text + " " +
         (fit->op == TransferOp::Copy
              ? std::string(tr("The lines of the levels are those of a copy, whose two arrays "
                               "share a level; a read or write has one and leaves it at twice the "
                               "size."))
              : trf("The lines of the levels are those of {}.", to_string(fit->op)));
}

// Adds the pairs that the sweep has not reached yet.
void add_awaited_pairs(const Panel& p, const StartTransfers& request,
                       std::vector<std::pair<Device, Device>>& pairs) {
  const std::vector<Device> to = wanted_devices(p, request.to);
  for (const Device from : wanted_devices(p, request.from)) {
    for (const Device other : to) {
      const bool measured = std::ranges::any_of(request.ops, [&](TransferOp op) {
        return (!request.quick || op == TransferOp::Copy) && is_measured_between(op, from, other);
      });
      const std::pair pair(from, other);
      if (measured && std::ranges::find(pairs, pair) == pairs.end()) pairs.push_back(pair);
    }
  }
}

// "Bandwidth over time: cpu:0, copy of 1.00 KiB, 1 thread"
std::string live_title(const TransferResults& results) {
  if (results.cases.empty() || results.cases.front().samples.empty()) {
    return tr("Bandwidth over time");
  }
  const TransferCase& c = results.cases.front();
  return trf("Bandwidth over time: {}, {} of {}, {}", pair_text({c.from, c.to}), to_string(c.op),
             format_bytes(c.samples.back().bytes), moved_by(c.mover, c.peer, c.threads));
}

}  // namespace

std::string pair_text(const std::pair<Device, Device>& pair) {
  const std::string from = lab::to_string(pair.first);
  return pair.first == pair.second ? from : trf("{} to {}", from, lab::to_string(pair.second));
}

std::pair<Device, Device> shown_pair(const Panel& p, const TransferResults& results) {
  return known_or_first(results.pairs(), p.view.forms.transfers.shown_pair);
}

void draw_pair_choice(const Panel& p, const TransferResults& results) {
  auto pairs = results.pairs();
  const std::size_t measured = pairs.size();
  if (runs(p, Page::Transfers) && &results == &p.model.transfers().current) {
    add_awaited_pairs(p, results.request, pairs);
  }
  if (pairs.size() < 2) return;
  constexpr std::size_t kMostSegments = 4;
  constexpr float kCombo = 320;  // units
  std::optional<Row> row;
  if (pairs.size() > kMostSegments) {
    row.emplace(p.ui, std::initializer_list<float>{-std::min(kCombo, width_left(p)), 1});
    row->next();
  }
  std::pair<Device, Device> chosen = shown_pair(p, results);
  choose_one(p,
             {.path = "transfers/shown_pair",
              .label = tr("From and to"),
              .hint = tr("Source and destination of the curves and costs below."),
              .most_segments = kMostSegments},
             pairs, chosen, chosen, pair_text);
  // One without results cannot be shown yet.
  const auto end = pairs.begin() + static_cast<std::ptrdiff_t>(measured);
  if (std::find(pairs.begin(), end, chosen) != end && chosen != shown_pair(p, results)) {
    p.view.forms.transfers.shown_pair = chosen;
  }
}

namespace {

// "Quick: copies only, up to 128 MiB": what a quick sweep has left out; nothing of another.
void draw_quick_note(const Panel& p, const TransferResults& results, bool beside) {
  if (!results.request.quick || results.copy_sizes().empty()) return;
  const std::string text =
      trf("Quick: copies only, up to {}", format_bytes(results.copy_sizes().back()));
  if (beside) ImGui::SameLine(0, p.ui.px(16));
  caption(p.ui, text);
  record_item(p.ui, "transfers/quick_note", "text", text);
  hint(p.ui, tr("The settings apply to the sweep; the quick one measures copies between the same "
                "devices in up to 30 s."));
}

// Why a figure is marked, beside what unsteady_key() says.
std::string more_reasons() {
  return fmt::format(
      "{}\n{}", tr("Or other programs and the host took a fifth of the cores' time or more."),
      tr("Or the figure is less than half of those at the sizes before and after it."));
}

}  // namespace

void draw_transfer_headline(const Panel& p, const TransferResults& results) {
  const std::pair<Device, Device> pair = shown_pair(p, results);
  const auto cases = by_threads(results, pair);
  if (cases.empty()) return;
  const std::string text = headline(results, pair);
  if (headline_is_unsteady(results, pair)) {
    warning_sentence(p, "transfers/headline", text);
  } else if (!text.empty()) {
    heading(p.ui, text);
    record_item(p.ui, "transfers/headline", "text", text);
  }
  const auto unsteady = [](const TransferCase* c) {
    return std::ranges::any_of(c->unsteady, [](double x) { return x != 0; });
  };
  constexpr float kOneLine = 560;  // units
  const bool key = std::ranges::any_of(cases, unsteady);
  if (key && is_mostly_unsteady(results)) {
    warning_key(p, "transfers/mark_key",
                tr("Most figures are unsteady; the bands show p10 to p90."), more_reasons());
  } else if (key) {
    unsteady_key(p, "transfers/mark_key", more_reasons());
  }
  draw_quick_note(p, results, key && width_left(p) >= kOneLine);
}

void draw_transfer_curves(const Panel& p, const Kept<TransferResults>& kept) {
  const bool old = is_old(kept);
  constexpr std::string_view kWidestTime = "100 ms";  // so that both plots have the same ticks
  const plot::Axis size{
      .label = tr("size of one array"), .scale = plot::Scale::Log2, .unit = "B", .binary = true};
  const auto cases = by_threads(shown(kept), shown_pair(p, shown(kept)));
  const std::vector<plot::Band> bands = level_bands(cases);
  const std::pair<Device, Device> devices = shown_pair(p, shown(kept));
  const std::string counting = counting_note(cases, devices);
  const plot::Options options{.height = 270,
                              .grows = true,
                              .cursor = &p.view.cursor,
                              .bands = bands,
                              .empty_text = tr("No sample yet"),
                              .dimmed = old};
  const ReferenceResults* reference = chosen_reference(p);
  if (reference != nullptr && !has_transfers_for(*reference, p.model.machine())) {
    reference = nullptr;  // it is not offered here
  }
  const auto fitting =
      reference != nullptr ? overlay(*reference, shown(kept)) : Overlay<TransferCase>();
  Pair pair(p, 680, spare_height(p));
  pair.next();
  if (Card card(p, "transfers/bandwidth", title_with(p, tr("Bandwidth over size"), kept),
                {.hint = counting + " " +
                         tr("Bytes moved, as counted by STREAM, divided by the median time. The "
                            "band spans p10 to p90. Right-click the plot for a linear axis."),
                 .dimmed = old});
      card) {
    reference_note(p, "transfers/reference_note", fitting.note);
    const std::string unit = counted("GB/s", devices);
    const plot::Axes axes{
        .x = size, .y = {.label = unit, .scale = plot::Scale::Log10, .room_for = kWidestTime}};
    plot::draw(p.ui, "transfers/plot/bandwidth", axes,
               curves(p, kept, TransferQuantity::Bandwidth, reference, fitting), options, p.out);
  }
  pair.next();
  if (Card card(p, "transfers/latency", title_with(p, tr("Time over size"), kept),
                {.hint = tr("The median time of one repetition. Flat on the left: the fixed "
                            "cost; rising on the right: the bandwidth."),
                 .dimmed = old});
      card) {
    const plot::Axes axes{.x = size,
                          .y = {.label = tr("time"),
                                .scale = plot::Scale::Log10,
                                .unit = "s",
                                .room_for = kWidestTime}};
    plot::draw(p.ui, "transfers/plot/latency", axes,
               curves(p, kept, TransferQuantity::Time, reference, fitting), options, p.out);
  }
}

namespace {

void live_flows(const Panel& p, const TransferResults& results) {
  static constexpr std::array kColumns = {
      Column{LAB_TEXT("Case"), 2, false, {}},
      Column{LAB_TEXT("Now"), 1, true, LAB_TEXT("The last sample.")},
      Column{LAB_TEXT("Median"), 1, true, LAB_TEXT("Median of the samples in the chart.")},
      Column{LAB_TEXT("p10 to p90"), 1.4F, true,
             LAB_TEXT("Percentiles of the samples in the chart.")}};
  const bool any = std::ranges::any_of(
      results.cases, [](const TransferCase& c) { return !c.live_gb_per_s.empty(); });
  if (!any || !begin_table(p.ui, "transfers/live_table", kColumns)) return;
  for (const TransferCase& c : results.cases) {
    if (c.live_gb_per_s.empty()) continue;
    const LiveRate rate = live_rate(c.live_gb_per_s);
    table_row(p.ui);
    cell(p.ui, c.label(true));
    cell(p.ui, format_gb_per_s(rate.last));
    cell(p.ui, format_gb_per_s(rate.median), {}, rate.varies());
    cell(p.ui, trf("{} to {}", format_gb_per_s(rate.p10), format_gb_per_s(rate.p90)));
  }
  end_table(p.ui);
}

// The end of an axis of GB/s with room above the samples; none without samples.
std::optional<double> live_end(const TransferResults& results) {
  constexpr double kHeadroom = 1.1;
  double most = 0;
  for (const TransferCase& c : results.cases) {
    for (const double gb_per_s : c.live_gb_per_s) most = std::max(most, gb_per_s);
  }
  return most > 0 ? std::optional(kHeadroom * most) : std::nullopt;
}

}  // namespace

void draw_live_transfers(const Panel& p, const Kept<TransferResults>& kept) {
  const bool old = is_old(kept);
  Card card(p, "transfers/live_card", live_title(shown(kept)),
            {.extra = spare_height(p),
             .hint = tr("One case, measured repeatedly until stopped. The form chooses it."),
             .dimmed = old});
  if (!card) return;
  live_flows(p, shown(kept));
  std::vector<plot::Series> series;
  for (const TransferCase& c : shown(kept).cases) {
    plot::Series s = case_series(p, c, false);
    s.line = plot::Line::Solid;  // it is alone
    s.marker = plot::Marker::None;
    if (!c.samples.empty()) s.label += ", " + format_bytes(c.samples.back().bytes);
    s.x = c.live_t_s;
    s.y = c.live_gb_per_s;
    s.describe = [&c](std::size_t i) {
      return fmt::format("{}, {}", format_gb_per_s(c.live_gb_per_s[i]),
                         format_seconds(c.live_t_s[i]));
    };
    series.push_back(std::move(s));
  }
  const TransferResults& results = shown(kept);
  const std::string unit = results.cases.empty()
                               ? "GB/s"
                               : counted("GB/s", {results.cases[0].from, results.cases[0].to});
  const plot::Axes axes{.x = {.label = tr("time"), .unit = "s"},
                        .y = {.label = unit, .min = 0, .max = live_end(results)}};
  plot::draw(p.ui, "transfers/plot/live", axes, series,
             {.height = 320, .grows = true, .empty_text = tr("No sample yet"), .dimmed = old},
             p.out);
}

}  // namespace lab::ui
