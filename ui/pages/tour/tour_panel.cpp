// The Tour page: one button, four tiles with a figure per device, and a portrait of the machine.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/events/stats.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/form_devices.h"
#include "ui/pages/machine_portrait.h"
#include "ui/pages/panel.h"
#include "ui/pages/tour/tour_words.h"
#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"

namespace lab::ui {
namespace {

constexpr float kTileUnits = 230;   // the narrowest useful tile
constexpr float kTileHeight = 176;  // of a tile without a figure
constexpr float kHeadHeight = 100;  // with any of its notes, and the same without
constexpr float kRowGap = 8;        // between a device and its figure
// Closer than the lines of a card.
constexpr float kAboveCaption = 5, kAboveChange = 8, kAboveLink = 11;
constexpr float kBetweenCaptions = 3;
constexpr float kMeasureUnits = 200;   // of the button
constexpr std::size_t kQuestions = 4;  // in a row if they fit
constexpr float kPaleAlpha = 0.5F;     // of figures that are not final, or of the tour before

constexpr std::size_t kFewDevices = 3;  // with large figures and the spread of each median

constexpr const char* kPlusMinus =
    LAB_TEXT("±: half of the range from p10 to p90, as a share of the median.");

struct Tile {
  TourQuestion question;
  Page page;         // that explains the figure
  const char* link;  // LAB_TEXT
  const char* note;  // LAB_TEXT, which of the repetitions the figure is of
};
constexpr std::array<Tile, kQuestions> kTiles = {{
    {TourQuestion::Peak, Page::Matmul, LAB_TEXT("See why: Matmul"), LAB_TEXT("best run")},
    {TourQuestion::Bandwidth, Page::Transfers, LAB_TEXT("See it by size: Transfers"),
     LAB_TEXT("best run")},
    {TourQuestion::SmallCopy, Page::Transfers, LAB_TEXT("See the latency: Transfers"),
     LAB_TEXT("median")},
    {TourQuestion::Training, Page::Training, LAB_TEXT("Train it: Training"), LAB_TEXT("median")},
}};

std::vector<const DeviceInfo*> timed_devices(const Panel& p) {
  std::vector<const DeviceInfo*> timed;
  for (const DeviceInfo& info : p.model.machine().devices) {
    if (is_timed(info.device)) timed.push_back(&info);
  }
  return timed;
}

// --- figures --------------------------------------------------------------------------------

struct Shown {
  const TourFigure* figure = nullptr;
  bool old = false;  // of a tour before the running or the last one
};

Shown figure_of(const Panel& p, Device device, TourQuestion question) {
  const Kept<TourResults>& kept = p.model.tour();
  if (const TourFigure* now = kept.current.find(device, question)) {
    return {now, kept.current.older_date(*now) != 0};
  }
  if (!kept.previous) return {};
  return {kept.previous->find(device, question), true};
}

// Whether it is still being measured.
bool is_measuring(const Panel& p, const Shown& shown) {
  return !shown.figure->complete && runs(p, Page::Tour) && !shown.old;
}

// Why the figure may be worse than what the device can do; empty if nothing disturbed it.
std::string disturbance(const Panel& p, const Shown& shown) {
  const TourFigure& figure = *shown.figure;
  if (!figure.missing.empty() || is_measuring(p, shown)) return {};
  if (!figure.complete) return tr("The measurement was interrupted.");
  const double half = (figure.high - figure.low) / 2;
  const bool wide = is_wide(figure);
  std::string why;
  if (figure.unstable && figure.n > 1) {
    why = tr("The time limit was reached before the spread fell below 2 %.");
  }
  if (wide) {
    if (!why.empty()) why += "\n";
    why += trf("The repetitions vary: half of the range from p10 to p90 is {} of the median.",
               percent(half / figure.median));
  }
  const double others = shown.old ? 0 : p.model.tour().current.others;
  if (others > 0 && is_unsteady(figure)) {
    if (!why.empty()) why += "\n";
    why += trf("Other programs or the host took {} of the cores' time during the tour.",
               percent(others));
  }
  return why;
}

// Whether a figure has a mark; with `unsteady_only`, one for its repetitions.
bool is_marked(const Panel& p, bool unsteady_only = false) {
  for (const DeviceInfo* info : timed_devices(p)) {
    for (const Tile& tile : kTiles) {
      const Shown shown = figure_of(p, info->device, tile.question);
      if (shown.figure == nullptr || disturbance(p, shown).empty()) continue;
      if (!unsteady_only || (shown.figure->complete && is_unsteady(*shown.figure))) return true;
    }
  }
  return false;
}

// What the mark beside some of the figures means, unless a note on the run says it.
void mark_key(const Panel& p) {
  const PageState& state = p.model.state(Page::Tour);
  if (!is_marked(p) || (state.phase == Phase::Done && state.others > 0)) return;
  warning_key(p, "tour/mark_key",
              is_marked(p, true) ? tr("Unsteady; hover for why") : tr("Interrupted; hover for why"),
              tr("The repetitions of the marked figures vary or were interrupted: the device may "
                 "be better than they say. Hover over a mark for its reason."));
}

// --- the head -------------------------------------------------------------------------------

void run_state(const Panel& p) {
  Ui& ui = p.ui;
  const RunningJob& job = *p.model.job();
  progress_bar(ui, "tour/progress", job.done, 0, 8);
  caption(ui, job.what);  // the status bar says how long it takes
}

bool share_cores(const Panel& p) {
  return timed_devices(p).size() > 1 && !p.model.silicon()->core_sharers.empty();
}

std::string what_it_measures(const Panel& p) {
  if (timed_devices(p).size() < 2) {
    return tr("Four short measurements. Each leads to the page that explains it.");
  }
  if (share_cores(p)) {
    return fmt::format("{} {}", tr("Four short measurements of each device."), tr(kDoNotAddUp));
  }
  return tr("Four short measurements of each device. Each leads to the page that explains it.");
}

// What the figures say together, if anything.
void headline(const Panel& p) {
  std::vector<Device> devices;
  for (const DeviceInfo* info : timed_devices(p)) devices.push_back(info->device);
  const TourHeadline said = headline_of(p.model.tour().current, devices, share_cores(p));
  if (said.text.empty()) return;
  if (said.withheld) {
    warning_sentence(p, "tour/headline", said.text);
  } else {
    body(p.ui, said.text);
    record_item(p.ui, "tour/headline", "text", said.text);
  }
}

// What others took, in a line, where the head has no room for a box below its sentence; the
// programs are in its hint if they do not fit.
void quiet_notes(const Panel& p, Figures figures) {
  const PageState& state = p.model.state(Page::Tour);
  if (state.phase != Phase::Done) return;
  if (state.others > 0) {
    const std::string all = others_text(state.others, figures, state.programs);
    const float room = ImGui::GetContentRegionAvail().x - p.ui.px(kWarningSide + 6);
    const bool fits = text_size(p.ui.fonts.body, all).x <= room;
    const std::string text = fits ? all : others_text(state.others, figures, {});
    if (figures == Figures::Marked) {
      warning_sentence(p, "tour/others", text);
    } else {
      footnote(p.ui, text);
      record_item(p.ui, "tour/others", "note", text);
    }
    hint(p.ui, fits ? std::string_view() : std::string_view(all));
  }
}

void head_text(const Panel& p) {
  Ui& ui = p.ui;
  title(ui, tr("What can this machine do?"));
  record_item(ui, "tour/title", "text", tr("What can this machine do?"));
  if (runs(p, Page::Tour)) {
    run_state(p);
    return;
  }
  const float top = ImGui::GetCursorPosY();
  failure_box(p, Page::Tour);
  const Figures figures = is_marked(p) ? Figures::Marked : Figures::Steady;
  headline(p);
  quiet_notes(p, figures);
  if (ImGui::GetCursorPosY() > top) return;
  const std::string what = what_it_measures(p);
  muted(ui, what);
  record_item(ui, "tour/what", "text", what);
  if (p.model.tour().current.empty()) busy_cores_note(p);
}

// How long the tour took or until it was stopped, when an earlier session measured it, or how long
// it will take.
std::string when_text(const Panel& p) {
  const TourResults& tour = p.model.tour().current;
  if (!tour.empty() && tour.earlier) {
    return when_measured(tour.measured);
  }
  const PageState& state = p.model.state(Page::Tour);
  if (!tour.empty() && state.phase == Phase::Done) {
    const std::string seconds = format_seconds(state.seconds);
    return state.cancelled ? trf("Stopped after {}", seconds) : trf("Took {}", seconds);
  }
  return trf("About {:.0f} s", tour_duration_s(StartTour{}.seconds, timed_devices(p).size()));
}

void head_button(const Panel& p) {
  Ui& ui = p.ui;
  if (stop_instead(p, Page::Tour)) return;
  const bool again = !p.model.tour().current.empty();
  if (start_button(p, "tour/measure", again ? tr("Measure again") : tr("Measure this machine"), "",
                   true)) {
    send(p, StartTour{});
  }
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(8), ui.px(2)});
  caption(ui, when_text(p));
  record_item(ui, "tour/when", "text", when_text(p));
  mark_key(p);
  ImGui::PopStyleVar();
}

void head_card(const Panel& p) {
  const Card card(p, "tour/head", "", {.least = kHeadHeight});
  if (!card) return;
  Row row(p.ui, {1, -std::min(kMeasureUnits, width_left(p) * 0.4F)});
  row.next();
  head_text(p);
  row.next();
  head_button(p);
}

// --- tiles ----------------------------------------------------------------------------------

void no_figure_yet(const Panel& p) {
  caption(p.ui, runs(p, Page::Tour) ? tr("waiting") : tr("not measured yet"));
}

void no_figure(const Panel& p) {
  Ui& ui = p.ui;
  ImGui::PushFont(ui.fonts.figure);
  ImGui::PushStyleColor(ImGuiCol_Text, ui.theme->plot_axis);
  note_text(ui.fonts.figure, "–");
  ImGui::TextUnformatted("–");
  ImGui::PopStyleColor();
  ImGui::PopFont();
  no_figure_yet(p);
}

std::string half_range_of(const TourFigure& figure) {
  return half_range(figure.low, figure.high, figure.median, figure.n);
}

bool has_spread(const TourFigure& figure) {
  return figure.missing.empty() && figure.n > 1 && figure.median > 0;
}

// The spread of the others says nothing about the fastest repetition.
std::string spread_or_runs(const TourFigure& figure) {
  return figure.value == figure.median ? half_range_of(figure) : trf("best of {}", figure.n);
}

// The spread of a median beside its value in the font `beside`, where the line has room for it;
// returns whether it is shown.
bool short_spread(const Panel& p, const std::string& path, const TourFigure& figure,
                  const ImFont* beside) {
  ImFont* const font = p.ui.fonts.caption;
  const std::string text = half_range_of(figure);
  const float gap = p.ui.px(6), mark = p.ui.px(18);
  const float end = ImGui::GetWindowPos().x + ImGui::GetContentRegionMax().x;
  if (ImGui::GetItemRectMax().x + gap + text_size(font, text).x + mark > end) return false;
  ImGui::SameLine(0, gap);
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float height = std::min(p.ui.fonts.title->FontSize, beside->FontSize);
  ImGui::Dummy({text_size(font, text).x, height});
  draw_control_text(ImGui::GetWindowDrawList(), font,
                    {pos.x, pos.y + height - font->FontSize - p.ui.px(2)}, text_size(font, text).x,
                    p.ui.theme->muted, text);
  record_item(p.ui, path + "/spread", "text", text);
  hint(p.ui, tr(kPlusMinus));
  return true;
}

std::string percentile_rows(const TourFigure& figure) {
  if (!figure.missing.empty() || figure.n < 2) return percentiles_text(figure);
  const auto at = [&](double value) {
    TourFigure one = figure;
    one.value = value;
    return value_text(one);
  };
  std::string rows;
  if (figure.value != figure.median) add_row(rows, tr("best"), value_text(figure));
  add_row(rows, tr("median"), at(figure.median));
  add_row(rows, tr("p10 to p90"), trf("{} to {}", at(figure.low), at(figure.high)));
  add_row(rows, tr("repetitions"), std::to_string(figure.n));
  return rows;
}

// A figure as wide and as explained as most, for the room that a tour needs before it has one.
TourFigure expected(const DeviceInfo& info, TourQuestion question) {
  TourFigure figure{.device = info.device, .question = question};
  switch (question) {
    case TourQuestion::Peak: figure.value = 888e9; break;
    case TourQuestion::Bandwidth: figure.value = 88.8e9; break;
    case TourQuestion::SmallCopy: figure.value = 88.8e-9; break;
    case TourQuestion::Training: figure.value = 88.8e3; break;
  }
  figure.median = figure.value;
  figure.complete = true;
  figure.threads = question == TourQuestion::SmallCopy ? 1 : info.threads;
  if (question == TourQuestion::Peak) {
    figure.plain_share = 0.0088;
    figure.best_share = 0.88;
    figure.share_unsteady = true;
  }
  if (question == TourQuestion::SmallCopy && info.threads > 1) figure.all_threads_s = 8.88e-6;
  return figure;
}

// The largest font, at most `font`, in which a line of `room` pixels has room for each value and
// its mark, also for those that are still to come.
ImFont* fitting_font(const Panel& p, ImFont* font, const std::vector<const DeviceInfo*>& devices,
                     std::span<const Tile> of, float room) {
  const Fonts& fonts = p.ui.fonts;
  const float mark = p.ui.px(kWarningSide + 4);
  const auto fits = [&](const std::string& value) {
    return text_size(font, value).x + mark <= room;
  };
  for (ImFont* smaller : {fonts.title, fonts.strong, fonts.caption}) {
    if (smaller->FontSize >= font->FontSize) continue;
    for (const DeviceInfo* info : devices) {
      const bool fit = std::ranges::all_of(of, [&](const Tile& tile) {
        const Shown shown = figure_of(p, info->device, tile.question);
        return fits(value_text(expected(*info, tile.question))) &&
               (shown.figure == nullptr || fits(value_text(*shown.figure)));
      });
      if (fit) continue;
      font = smaller;
      break;
    }
  }
  return font;
}

// Whether the question asks for a median, not for the best run.
bool is_median_of(const TourFigure& figure) {
  return figure.question == TourQuestion::SmallCopy || figure.question == TourQuestion::Training;
}

// The figure in `font`; records it. Returns whether it lacks room for a spread that should be
// shown: that of each median, and the number of repetitions of a marked best run.
bool figure_value(const Panel& p, const std::string& path, const Shown& shown, ImFont* font,
                  bool with_spread) {
  Ui& ui = p.ui;
  const TourFigure& figure = *shown.figure;
  const std::string why = disturbance(p, shown);
  number(ui, value_text(figure), font);
  record_item(ui, path + "/value", "text", value_text(figure), sentence_of(figure));
  std::string details = percentile_rows(figure);
  if (const std::time_t older = p.model.tour().current.older_date(figure); older != 0) {
    details.append("\n").append(when_measured(older));
  }
  hint(ui, why.empty() ? details : fmt::format("{}\n{}", details, why));
  const bool is_median = has_spread(figure) && figure.value == figure.median;
  const bool spread = with_spread && is_median && short_spread(p, path, figure, font);
  warning_mark(p, path, why, font->FontSize);
  return with_spread && !spread && has_spread(figure) && (is_median_of(figure) || !why.empty());
}

void figure_spread(const Panel& p, const std::string& path, const Shown& shown) {
  TourFigure figure = *shown.figure;
  figure.unstable = false;  // said by the mark
  const auto with_state = [&](const std::string& spread) {
    return figure.complete          ? spread
           : is_measuring(p, shown) ? trf("measuring; {}", spread)
                                    : trf("interrupted; {}", spread);
  };
  std::string spread = with_state(spread_text(figure));
  if (text_size(p.ui.fonts.caption, spread).x > ImGui::GetContentRegionAvail().x) {
    spread = with_state(spread_or_runs(figure));
  }
  if (spread.empty()) return;
  caption(p.ui, spread);
  record_item(p.ui, path + "/spread", "text", spread);
  if (spread.find("±") == std::string::npos) return;
  hint(p.ui, tr(kPlusMinus));
}

std::string path_of(const DeviceInfo& info, const Tile& tile) {
  return fmt::format("tour/{}/{}", lab::to_string(info.device), to_string(tile.question));
}

// "● cpu:0", as high as a line of `font`.
void device_name(const Panel& p, const DeviceInfo& info, ImFont* font) {
  Ui& ui = p.ui;
  const std::string name = lab::to_string(info.device);
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, font->FontSize};
  ImGui::Dummy(size);
  if (!ImGui::IsItemVisible()) return;
  draw_device_label(ui,
                    {device_color(*ui.theme, info.device), ui.fonts.body, ui.theme->muted, name},
                    {pos.x, pos.y + size.y / 2}, size.x);
}

// The spreads that lines have no room for: of many devices, those from the least to the greatest.
std::string spreads_text(const std::vector<TourFigure>& figures) {
  if (figures.size() < kFewDevices) {
    std::string all;
    for (const TourFigure& figure : figures) {
      if (!all.empty()) all += tr(", ");
      all.append(lab::to_string(figure.device)).append(" ").append(spread_or_runs(figure));
    }
    return all;
  }
  const auto [fewest, most] = std::ranges::minmax_element(figures, {}, &TourFigure::n);
  if (fewest->value != fewest->median) {
    return fewest->n == most->n ? trf("best of {}", most->n)
                                : trf("best of {} to {}", fewest->n, most->n);
  }
  const auto share = [](const TourFigure& figure) {
    return (figure.high - figure.low) / figure.median;
  };
  const auto [least, widest] = std::ranges::minmax_element(figures, {}, share);
  const std::string from = half_range_of(*least), to = half_range_of(*widest);
  return from == to ? to : trf("{} to {}", from, to);
}

// One line per device, which compares them. Returns spreads_text().
std::string figures_of_devices(const Panel& p, const std::vector<const DeviceInfo*>& devices,
                               const Tile& tile) {
  float name = 0;  // the widest, pixels
  for (const DeviceInfo* info : devices) {
    name = std::max(name, text_size(p.ui.fonts.body, lab::to_string(info->device)).x);
  }
  const float column = name / p.ui.scale + kDeviceDot + 1;
  const float room = ImGui::GetContentRegionAvail().x - p.ui.px(column + kRowGap);
  const Fonts& fonts = p.ui.fonts;
  ImFont* const font = fitting_font(p, devices.size() <= kFewDevices ? fonts.figure : fonts.title,
                                    devices, kTiles, room);
  std::vector<TourFigure> spreads;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {p.ui.px(kRowGap), p.ui.px(4)});
  for (const DeviceInfo* info : devices) {
    const Shown shown = figure_of(p, info->device, tile.question);
    const std::string path = path_of(*info, tile);
    const ImVec2 top = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const bool pale = shown.old || (shown.figure != nullptr && is_measuring(p, shown));
    ImGui::PushStyleVar(ImGuiStyleVar_Alpha, ImGui::GetStyle().Alpha * (pale ? kPaleAlpha : 1));
    {
      Row row(p.ui, {-column, 1});
      row.next();
      device_name(p, *info, font);
      row.next();
      if (shown.figure != nullptr) {
        if (figure_value(p, path, shown, font, true)) spreads.push_back(*shown.figure);
      } else {
        const float down = (font->FontSize - fonts.caption->FontSize) / 2;
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() + std::floor(down));
        no_figure_yet(p);
      }
    }
    ImGui::PopStyleVar();
    record_rect(p.ui, path, "figure", lab::to_string(info->device), "", true, top,
                {top.x + width, ImGui::GetItemRectMax().y});
  }
  ImGui::PopStyleVar();
  return spreads_text(spreads);
}

// What the figures say, once if that is the same for all devices; otherwise of the first device of
// each kind, and of every device without a value.
std::vector<std::string> sentences(const std::vector<TourFigure>& figures) {
  std::vector<std::string> all;
  all.reserve(figures.size());
  for (const TourFigure& figure : figures) all.push_back(sentence_of(figure));
  if (std::ranges::all_of(all, [&](const std::string& one) { return one == all.front(); })) {
    if (!all.empty()) all.resize(1);
    return all;
  }
  std::vector<std::string> said;
  std::set<DeviceKind> explained;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const TourFigure& figure = figures[i];
    if (figure.missing.empty() && !explained.insert(figure.device.kind).second) continue;
    said.push_back(fmt::format("{}: {}", lab::to_string(figure.device), all[i]));
  }
  return said;
}

// The height of texts in lines across the card, pixels.
float height_of(const Panel& p, const std::vector<std::string>& texts) {
  ImFont* const font = p.ui.fonts.body;
  float height = 0;
  for (const std::string& text : texts) {
    const std::string lines = break_lines(font, text, ImGui::GetContentRegionAvail().x);
    height += font->FontSize * static_cast<float>(1 + std::ranges::count(lines, '\n'));
  }
  return height + ImGui::GetStyle().ItemSpacing.y * static_cast<float>(texts.size());
}

// The question, later the answers' sentences, in the room that the latter need.
void tile_sentences(const Panel& p, const std::vector<const DeviceInfo*>& devices,
                    const Tile& tile) {
  std::vector<TourFigure> now, later;
  for (const DeviceInfo* info : devices) {
    later.push_back(expected(*info, tile.question));
    const Shown shown = figure_of(p, info->device, tile.question);
    if (shown.figure != nullptr) now.push_back(*shown.figure);
  }
  const float top = ImGui::GetCursorPosY(), room = height_of(p, sentences(later));
  if (now.empty()) {
    muted(p.ui, question_text(tile.question));
  } else {
    const bool at_least = std::ranges::any_of(now, &TourFigure::share_unsteady);
    for (const std::string& text : sentences(now)) {
      muted(p.ui, text);
      if (!at_least) continue;
      hint(p.ui, tr("The repetitions of the fastest kernel vary: it may use more of the peak."));
    }
  }
  const float left = top + room - ImGui::GetCursorPosY();
  if (left >= 1) ImGui::Dummy({1, left - ImGui::GetStyle().ItemSpacing.y});
}

// A caption in a line that is kept for it.
void kept_caption(const Panel& p, const std::string& path, const std::string& text,
                  std::string_view why) {
  if (text.empty()) {
    ImGui::Dummy({1, p.ui.fonts.caption->FontSize});
    return;
  }
  caption(p.ui, text);
  record_item(p.ui, path, "text", text);
  hint(p.ui, why);
}

// Which figures are of an earlier tour, or how they changed since the tour before.
void change_caption(const Panel& p, const Tile& tile, const std::string& older) {
  const std::string path = fmt::format("tour/{}", to_string(tile.question));
  const TourResults& now = p.model.tour().current;
  if (!older.empty()) {
    return kept_caption(p, path + "/older", older,
                        tr("The last tour ended before it measured these again."));
  }
  const TourResults* before = p.model.tour_before();
  kept_caption(
      p, path + "/change",
      before == nullptr ? "" : changes_text(now, *before, tile.question, p.model.wall_time()),
      tr("Change since the tour before; only for figures that were steady in both."));
}

// Below the sentences, in lines that are kept for them: spreads without room beside their figures,
// and changes. Only the speed of training has room for both; the others have a change where no
// spread is shown.
void tile_captions(const Panel& p, const Tile& tile, bool alone, const std::string& spreads) {
  const bool both = !alone && tile.question == TourQuestion::Training;
  const std::string older = older_text(p.model.tour().current, tile.question, p.model.wall_time());
  const bool has_spreads = !spreads.empty() && older.empty();
  const float top = ImGui::GetCursorPosY() - p.ui.px(alone ? kAboveChange : kAboveCaption);
  ImGui::SetCursorPosY(top);
  if (both || has_spreads) {
    const std::string path = fmt::format("tour/{}/spreads", to_string(tile.question));
    kept_caption(p, path, spreads, tr(kPlusMinus));
  }
  if (both) ImGui::SetCursorPosY(top + p.ui.fonts.caption->FontSize + p.ui.px(kBetweenCaptions));
  if (both || !has_spreads) change_caption(p, tile, older);
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() - p.ui.px(kAboveLink));
}

void tile_link(const Panel& p, const Tile& tile) {
  Ui& ui = p.ui;
  // The label is aligned with the texts above it, and with the links of the other tiles.
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const ImGuiWindow* card = ImGui::GetCurrentWindowRead();
  const float end = card->Pos.y + card->Size.y - card->WindowPadding.y;
  const float down = std::max(0.0F, std::floor(end - ui.px(kControlHeight) - pos.y));
  grown_in_card(ui, down);
  ImGui::SetCursorScreenPos({pos.x, pos.y + down});
  const std::string path = fmt::format("tour/{}/link", to_string(tile.question));
  if (!button(ui, path, tr(tile.link), {.kind = ButtonKind::Link})) return;
  p.view.page = tile.page;
  p.view.forms.matmul.tabs.kind = static_cast<int>(RunKind::Sweep);
  p.view.forms.transfers.tabs.kind = static_cast<int>(RunKind::Sweep);
}

void tile_card(const Panel& p, const std::vector<const DeviceInfo*>& devices, const Tile& tile) {
  const DeviceInfo& first = *devices.front();
  const bool alone = devices.size() == 1;
  const Shown shown = figure_of(p, first.device, tile.question);
  const std::string path =
      alone ? path_of(first, tile) : fmt::format("tour/{}", to_string(tile.question));
  const Card card(
      p, path, tr(label_of(tile.question)),
      {.least = kTileHeight, .note = alone ? "" : tr(tile.note), .dimmed = alone && shown.old});
  if (!card) return;
  std::string spreads;
  if (!alone) {
    spreads = figures_of_devices(p, devices, tile);
  } else if (shown.figure == nullptr) {
    no_figure(p);
  } else {
    const float room = ImGui::GetContentRegionAvail().x;
    figure_value(p, path, shown,
                 fitting_font(p, p.ui.fonts.figure, devices, std::span(&tile, 1), room), false);
    figure_spread(p, path, shown);
  }
  tile_sentences(p, devices, tile);
  tile_captions(p, tile, alone, spreads);
  tile_link(p, tile);
}

void tiles(const Panel& p) {
  const std::vector<const DeviceInfo*> devices = timed_devices(p);
  if (devices.empty()) return;
  const float width = width_left(p);
  const std::size_t columns = width >= kQuestions * kTileUnits ? 4
                              : width >= 2 * kTileUnits        ? 2
                                                               : 1;
  const std::vector<float> weights(columns, 1.0F);
  for (std::size_t first = 0; first < kQuestions; first += columns) {
    Row row(p.ui, weights, {.equal = true});
    for (std::size_t i = first; i < first + columns; ++i) {
      row.next();
      tile_card(p, devices, kTiles[i]);
    }
  }
}

// Names the devices that have no figures.
void untimed_box(const Panel& p) {
  const std::string text = untimed_text(p.model.machine());
  if (!text.empty()) note_box(p.ui, "tour/untimed", text);
}

}  // namespace

void draw_tour_page(const Panel& p) {
  const StretchedArea area(p);
  head_card(p);
  tiles(p);
  untimed_box(p);
  portrait_card(p);
}

}  // namespace lab::ui
