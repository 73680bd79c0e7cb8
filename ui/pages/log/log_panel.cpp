// The Log page: one line per job, which its notes fold out of, and what needs attention below it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <limits>
#include <optional>
#include <set>
#include <variant>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/panel.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"

namespace lab::ui {
namespace {

const char* word(Severity severity) {
  switch (severity) {
    case Severity::Info: return tr("info");
    case Severity::Warning: return tr("warning");
    case Severity::Error: return tr("error");
  }
  return "";
}

bool contains_text(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

// Without a full stop, where more follows.
std::string without_stop(std::string text) {
  for (const std::string_view stop : {".", "。"}) {
    if (text.ends_with(stop)) text.resize(text.size() - stop.size());
  }
  return text;
}

std::string text_of(const LogEntry& entry) {
  if (entry.others > 0) {
    return trf("{}; other programs or the host took {} of the cores' time",
               without_stop(entry.text), percent(entry.others));
  }
  return entry.times == 1 ? entry.text : trf("{} ({} times)", entry.text, entry.times);
}

// The settings and the command line of a job are searched although its line hides them.
bool contains_filter(const LogForm& form, const LogEntry& entry) {
  const auto found = [&](std::string_view text) { return contains_text(text, form.filter); };
  if (form.filter.empty() || found(entry.text) || found(text_of(entry))) return true;
  if (!entry.seconds) return false;
  return found(tr(name_of(entry.page))) || found(entry.settings) || found(entry.command_line);
}

bool passes(const LogForm& form, const LogEntry& entry) {
  const std::array<bool, 3> wanted = {form.info, form.warning, form.error};
  return wanted[static_cast<std::size_t>(entry.severity)] && contains_filter(form, entry);
}

std::time_t start_of_day(std::time_t when) {
  std::tm local{};
  if (::localtime_r(&when, &local) == nullptr) return when;
  local.tm_hour = local.tm_min = local.tm_sec = 0;
  return std::mktime(&local);
}

bool spans_days(const Model& model) {
  const auto& log = model.log();
  if (log.empty()) return false;
  return log.front().earlier || date_of(log.front().when) != date_of(log.back().when);
}

// Entries that a job logs before it ends.
bool below_job(const LogEntry& entry) {
  return entry.job != 0 && !entry.seconds;
}

// The notes of a finished job, which its line hides unless it is open.
bool is_note(const Panel& p, const LogEntry& entry) {
  const bool running = p.model.job() && p.model.job()->id == entry.job;
  return below_job(entry) && !running && entry.severity == Severity::Info;
}

// Finished jobs whose line is of a kind that is not shown. Nor are their notes then, unless they
// are searched for.
std::set<JobId> hidden_jobs(const Panel& p) {
  std::set<JobId> hidden;
  const LogForm& form = p.view.forms.log;
  if (!form.filter.empty()) return hidden;
  for (const LogEntry& entry : p.model.log()) {
    if (entry.seconds && !passes(form, entry)) hidden.insert(entry.job);
  }
  return hidden;
}

std::string as_text(const Panel& p) {
  std::string text;
  const bool dates = spans_days(p.model);
  const std::set<JobId> hidden = hidden_jobs(p);
  for (const LogEntry& entry : p.model.log()) {
    if (!passes(p.view.forms.log, entry)) continue;
    if (is_note(p, entry) && hidden.contains(entry.job)) continue;
    if (dates) text += date_of(entry.when) + " ";
    text +=
        fmt::format("{}  {:<7}  {}", time_of_day(entry.when), word(entry.severity), text_of(entry));
    if (entry.seconds) text += fmt::format("  {}", format_seconds(*entry.seconds));
    text += '\n';
  }
  return text;
}

// Whether the line of its finished job hides this note.
bool is_folded(const Panel& p, const LogEntry& entry) {
  const LogForm& form = p.view.forms.log;
  return is_note(p, entry) && form.filter.empty() && !form.open.contains(entry.job);
}

// "Warning (2)": a kind of lines and how many of them the filter offers. The notes that a job folds
// out count with the job, so that opening it changes no number.
std::string counted(const Panel& p, const char* name, Severity severity) {
  const LogForm& form = p.view.forms.log;
  const auto lines = std::ranges::count_if(p.model.log(), [&](const LogEntry& entry) {
    const bool of_job = form.filter.empty() && is_note(p, entry);
    return entry.severity == severity && contains_filter(form, entry) && !of_job;
  });
  return fmt::format("{} ({})", name, lines);
}

// Copies the lines, or the command line of `job`, whose button then says so for a while.
void copy_text(const Panel& p, JobId job, const std::string& text) {
  constexpr double kShown_s = 3;
  ImGui::SetClipboardText(text.c_str());
  p.view.forms.log.copied_job = job;
  p.view.forms.log.copied_until_s = p.ui.time_s + kShown_s;
}

bool is_copied(const Panel& p, JobId job) {
  const LogForm& form = p.view.forms.log;
  return form.copied_job == job && p.ui.time_s < form.copied_until_s;
}

void tools(const Panel& p) {
  LogForm& form = p.view.forms.log;
  Card card(p, "log/tools", "");
  if (!card) return;
  const auto filter = [&] {
    input_text(p.ui, "log/filter", tr("Filter"), form.filter,
               tr("Shows lines that contain this text, also in their page, settings or command "
                  "line."),
               tr("any text"));
  };
  const auto severities = [&] {
    control_label(p.ui, tr("Severity"));
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + p.ui.px(4));  // to the middle of a field
    Row row(p.ui, {1, 1, 1});
    const char* const jobs = tr("Shows lines of this kind.");
    row.next();
    checkbox(p.ui, "log/info", counted(p, tr("Info"), Severity::Info), form.info, jobs);
    row.next();
    checkbox(p.ui, "log/warning", counted(p, tr("Warning"), Severity::Warning), form.warning, jobs);
    row.next();
    checkbox(p.ui, "log/error", counted(p, tr("Error"), Severity::Error), form.error, jobs);
  };
  const auto copy = [&](float width) {
    const bool copied = is_copied(p, 0);
    const bool any = std::ranges::any_of(
        p.model.log(), [&](const LogEntry& entry) { return passes(form, entry); });
    if (button(p.ui, "log/copy", copied ? tr("Copied") : tr("Copy these lines"),
               {.enabled = any,
                .hint = any                     ? tr("Copies them to the clipboard.")
                        : p.model.log().empty() ? tr("There is no line yet.")
                                                : tr("No line matches the filter."),
                .width = width})) {
      copy_text(p, 0, as_text(p));
    }
  };
  constexpr float kSeverities = 420, kCopy = 180, kLeastFilter = 200;  // units
  if (width_left(p) < kLeastFilter + kSeverities + kCopy) {
    filter();
    severities();
    copy(0);
    return;
  }
  Row row(p.ui, {1, -kSeverities, -kCopy});
  row.next();
  filter();
  row.next();
  severities();
  row.next();
  control_label(p.ui, " ");  // beside a field with a label
  copy(-1);
}

constexpr float kTimeLeft = 26, kTextLeft = kTimeLeft + 84;  // units
constexpr float kNoteIndent = 20;
constexpr float kEndSpace = 110;   // for the duration and the chevron of a job
constexpr float kLinkSpace = 100;  // for the link to its page, left of them

using LogIterator = std::deque<LogEntry>::const_reverse_iterator;

bool has_details(const LogEntry& entry) {
  return entry.command || !entry.settings.empty() || !entry.command_line.empty();
}

int notes_below(const Panel& p, LogIterator end_of_job) {
  int notes = 0;
  for (auto entry = end_of_job; entry != p.model.log().rend(); ++entry) {
    if (entry->job != end_of_job->job) break;
    if (is_note(p, *entry) && passes(p.view.forms.log, *entry)) ++notes;
  }
  return notes;
}

// What the link of a finished job opens.
struct LinkTarget {
  std::optional<RunTabs> tab;  // of the page's results, if it shows this job there
  bool replaced = false;       // the page shows a later job only
};

// Results and the line of the log that announces them are dated one after the other.
template <typename Results>
LinkTarget target_in(const Panel& p, const LogEntry& entry, const KeptRuns<Results>& all) {
  constexpr std::time_t kApart = 1;
  const JobId last = p.model.state(entry.page).job;
  for (const bool replaced : {false, true}) {
    for (const RunKind kind : {RunKind::Sweep, RunKind::Live, RunKind::Together}) {
      const Results& kept = (replaced ? all.replaced(kind) : all.of(kind)).current;
      if (kept.empty() || std::abs(kept.measured_at - entry.when) > kApart) continue;
      return {RunTabs{.kind = static_cast<int>(kind), .job = last, .replaced = replaced}};
    }
  }
  const bool measured = entry.severity != Severity::Error && !entry.stopped;
  const bool later = !all.of(all.last()).current.empty();
  return {.tab = {}, .replaced = measured && later && entry.job != last};
}

// While the page's job runs, the page shows that.
LinkTarget target_of(const Panel& p, const LogEntry& entry) {
  if (runs(p, entry.page)) return {};
  switch (entry.page) {
    case Page::Transfers: return target_in(p, entry, p.model.transfer_runs());
    case Page::Matmul: return target_in(p, entry, p.model.matmul_runs());
    case Page::Scaling: return target_in(p, entry, p.model.scaling_runs());
    default: return {};
  }
}

void open_target(const Panel& p, Page page, const LinkTarget& target) {
  Forms& forms = p.view.forms;
  p.view.page = page;
  if (!target.tab) return;
  if (page == Page::Transfers) forms.transfers.tabs = *target.tab;
  if (page == Page::Matmul) forms.matmul.tabs = *target.tab;
  if (page == Page::Scaling) forms.scaling.tabs = *target.tab;
}

// Returns whether the pointer is over it.
bool page_link(const Panel& p, const LogEntry& entry, ImVec2 pos, float right) {
  Ui& ui = p.ui;
  ImFont* font = ui.fonts.body;
  const char* const name = tr(name_of(entry.page));
  const std::string path = fmt::format("log/job/{}/page", entry.job);
  const float left = right - ui.px(kEndSpace + kLinkSpace) + ui.px(16);
  const float width = std::min(text_size(font, name).x, ui.px(kLinkSpace - 16));
  const Item item = control_at(path, {left, pos.y}, {left + width, pos.y + ui.px(20)});
  if (item.pressed) open_target(p, entry.page, target_of(p, entry));
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_control_text(list, font, {left, pos.y}, width, ui.theme->accent, name);
  if (item.hovered) {
    const float y = pos.y + font->FontSize;
    list->AddLine({left, y}, {left + width, y}, styled(ui.theme->accent), ui.scale);
  }
  focus_ring(ui, item, ui.px(4));
  record(ui, item, path, "button", name);
  if (item.hovered && target_of(p, entry).replaced) {
    hint_at(ui, item.min, item.max, tr("A later run replaced these results."));
  }
  return item.hovered;
}

// `height`: of the line, in pixels.
void draw_end_of_job(const Panel& p, const LogEntry& entry, int notes, ImVec2 pos, float right,
                     float height) {
  Ui& ui = p.ui;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* mono = ui.fonts.mono;
  const std::string seconds = format_seconds(*entry.seconds);
  draw_text(list, mono,
            {right - ui.px(24) - text_size(mono, seconds).x,
             pos.y + ui.fonts.body->Ascent - mono->Ascent},
            ui.theme->muted, seconds);
  // Before the line below it, which would take its clicks.
  const bool on_link = page_link(p, entry, pos, right);
  if (notes == 0 && !has_details(entry)) return;
  std::set<JobId>& open = p.view.forms.log.open;
  const std::string path = fmt::format("log/job/{}", entry.job);
  const Item item = control_at(path, pos, {right, pos.y + std::max(height, ui.px(20))});
  if (item.pressed && open.erase(entry.job) == 0) open.insert(entry.job);
  const bool is_open = open.contains(entry.job);
  draw_icon(list, is_open ? kIconChevronDown : kIconChevronRight,
            {right - ui.px(18), pos.y + ui.px(1)}, ui.px(16),
            styled(item.hovered ? ui.theme->text : ui.theme->muted));
  focus_ring(ui, item, ui.px(4));
  record(ui, item, path, "foldout", entry.text, is_open ? "open" : "closed");
  if (on_link) return;
  hint_at(ui, pos, {right, pos.y + height},
          notes == 0   ? std::string(tr("How to run it again"))
          : notes == 1 ? std::string(tr("1 note"))
                       : trf("{} notes", notes));
}

// Below the line of a job that is open: its settings, the same job in a terminal, and a button that
// sends it again.
void draw_details(const Panel& p, const LogEntry& entry) {
  Ui& ui = p.ui;
  const std::string path = fmt::format("log/job/{}", entry.job);
  ImGui::Indent(ui.px(kTextLeft));
  if (!entry.settings.empty()) {
    const std::string settings = trf("Settings: {}", entry.settings);
    muted(ui, settings);
    record_item(ui, path + "/settings", "text", settings);
  }
  if (!entry.command_line.empty()) {
    note_text(ui.fonts.mono, entry.command_line);
    ImGui::PushFont(ui.fonts.mono);
    ImGui::PushStyleColor(ImGuiCol_Text, ui.theme->muted);
    ImGui::TextWrapped("%s", entry.command_line.c_str());
    ImGui::PopStyleColor();
    ImGui::PopFont();
    record_item(ui, path + "/command", "text", entry.command_line);
    const char* const copy = tr("Copy the command line");
    if (button(ui, path + "/copy", is_copied(p, entry.job) ? tr("Copied") : copy,
               {.kind = ButtonKind::Normal, .width = button_width(ui, copy)})) {
      copy_text(p, entry.job, entry.command_line);
    }
  }
  if (entry.command) {
    if (!entry.command_line.empty()) ImGui::SameLine(0, ui.px(8));
    const std::string why = busy_reason(p);
    if (button(ui, path + "/again", tr("Run again"),
               {.enabled = why.empty(),
                .hint = why.empty() ? tr("With the same settings; opens its page") : why})) {
      send(p, std::visit([](const auto& c) { return Command(c); }, *entry.command));
      p.view.page = entry.page;
    }
  }
  ImGui::Unindent(ui.px(kTextLeft));
}

// The line `index` of the page. `notes`: how many notes the line of a finished job folds out.
void draw_line(const Panel& p, const LogEntry& entry, int index, int notes) {
  Ui& ui = p.ui;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const bool indented = below_job(entry);
  const float left = ui.px(kTextLeft + (indented ? kNoteIndent : 0));
  const float right = pos.x + ImGui::GetContentRegionAvail().x;
  const float width = std::max(ui.px(80), right - ui.px(kEndSpace + kLinkSpace) - pos.x - left);
  ImFont* font = ui.fonts.body;
  const std::string text = text_of(entry);
  note_text(font, text);
  const std::string lines = break_lines(font, text, width);
  const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, width, lines.c_str());
  ImGui::Dummy({left + width, std::max(size.y, font->FontSize)});
  if (!ImGui::IsItemVisible()) return;
  const char* const mark = entry.stopped ? "stopped" : word(entry.severity);
  record_item(ui, fmt::format("log/line/{}", index), "text", text, mark);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Icon icon = entry.severity == Severity::Error     ? kIconError
                    : entry.severity == Severity::Warning ? kIconWarning
                    : entry.stopped                       ? kIconStop
                    : entry.seconds                       ? kIconCheck
                                                          : kIconInfo;
  const ImU32 color = entry.severity == Severity::Error     ? ui.theme->bad
                      : entry.severity == Severity::Warning ? ui.theme->warning
                                                            : ui.theme->muted;
  const float icon_left = indented ? left - ui.px(kNoteIndent + 4) : 0;
  draw_icon(list, icon, {pos.x + icon_left, pos.y}, ui.px(16), styled(color));
  if (!indented) {
    ImFont* mono = ui.fonts.mono;
    const float rise = font->Ascent - mono->Ascent;  // aligns both on one baseline
    draw_text(list, mono, {pos.x + ui.px(kTimeLeft), pos.y + rise}, ui.theme->muted,
              time_of_day(entry.when));
  }
  list->AddText(font, font->FontSize, {pos.x + left, pos.y},
                styled(indented ? ui.theme->muted : ui.theme->text), lines.c_str(), nullptr, width);
  if (entry.seconds) draw_end_of_job(p, entry, notes, pos, right, size.y);
}

// At the right end of the running job's line, `height` pixels high: how far it is, and the button
// that stops it. Returns the left end.
float draw_running_end(const Panel& p, ImVec2 pos, float right, float height) {
  Ui& ui = p.ui;
  constexpr float kStop = 68, kBar = 160, kRoom = 700;  // units
  const float stop = right - ui.px(kStop);
  ImGui::SetCursorScreenPos({stop, pos.y});
  if (button(ui, "log/stop", tr("Stop"),
             {.kind = ButtonKind::Danger,
              .hint = tr("Stops the running job; results are kept. Esc asks before it stops."),
              .width = kStop})) {
    cancel(p);
  }
  ImFont* font = ui.fonts.caption;
  const std::string text = progress_text(p);
  const float wide = std::max(text_size(font, text).x, ui.px(140));  // so that the bar is steady
  float left = stop - ui.px(12) - wide;
  const ImVec2 at(left, pos.y + (height - font->FontSize) / 2);
  draw_text(ImGui::GetWindowDrawList(), font, at, ui.theme->muted, text);
  record_rect(ui, "log/progress_text", "text", text, {}, true, at,
              {at.x + text_size(font, text).x, at.y + font->FontSize});
  if (!has_progress(p) || right - pos.x < ui.px(kRoom)) return left;
  constexpr float kHigh = 8;
  left -= ui.px(12 + kBar);
  ImGui::SetCursorScreenPos({left, pos.y + (height - ui.px(kHigh)) / 2});
  progress_bar(ui, "log/progress", p.model.job()->done, kBar, kHigh);
  return left;
}

void draw_running(const Panel& p) {
  if (!p.model.job()) return;
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float high = p.ui.px(kControlHeight);
  const float right = start.x + ImGui::GetContentRegionAvail().x;
  const float end = draw_running_end(p, start, right, high);
  ImGui::SetCursorScreenPos(start);
  const ImVec2 pos(start.x, start.y + (high - p.ui.fonts.body->FontSize) / 2);
  const float left = p.ui.px(kTextLeft);
  const bool held = paused(p);
  ImGui::Dummy({p.ui.px(80), high});
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_icon(list, held ? kIconPause : kIconPlay, pos, p.ui.px(16), styled(p.ui.theme->accent));
  const std::string state = held ? tr("paused") : tr("running");
  record_item(p.ui, "log/running", "text", p.model.job()->title, state);
  draw_text_fitted(list, p.ui.fonts.body, {pos.x + p.ui.px(kTimeLeft), pos.y},
                   left - p.ui.px(kTimeLeft + 8), p.ui.theme->muted, state);
  draw_text_fitted(list, p.ui.fonts.body, {pos.x + left, pos.y}, end - p.ui.px(12) - pos.x - left,
                   p.ui.theme->text, p.model.job()->title);
}

// Names the columns of a page that is wide enough to need it.
void draw_header(const Panel& p) {
  if (p.narrow() || (p.model.log().empty() && !p.model.job())) return;
  Ui& ui = p.ui;
  ImFont* font = ui.fonts.caption;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float right = pos.x + ImGui::GetContentRegionAvail().x;
  const auto at = [&](float x, const char* text) {
    draw_text(ImGui::GetWindowDrawList(), font, {x, pos.y}, ui.theme->muted, text);
  };
  const char* const duration = tr("Duration");
  at(pos.x + ui.px(kTimeLeft), tr("Time"));
  at(pos.x + ui.px(kTextLeft), tr("Event"));
  at(right - ui.px(kEndSpace + kLinkSpace) + ui.px(16), tr("Page"));
  at(right - ui.px(24) - text_size(font, duration).x, duration);
  ImGui::Dummy({right - pos.x, font->FontSize});
  record_item(ui, "log/header", "text", tr("Event"));
}

// A line with a caption between the entries of this session and those of earlier ones.
void draw_divider(const Panel& p, const char* path, const char* text) {
  Ui& ui = p.ui;
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float right = pos.x + ImGui::GetContentRegionAvail().x;
  caption(ui, text);
  record_item(ui, path, "text", text);
  const float left = pos.x + text_size(ui.fonts.caption, text).x + ui.px(8);
  const float y = std::floor(pos.y + ui.fonts.caption->FontSize / 2) + 0.5F;
  ImGui::GetWindowDrawList()->AddLine({left, y}, {right, y}, styled(ui.theme->border));
}

// Nothing has run yet in this session, but in earlier ones.
void draw_beginning(const Panel& p) {
  const char* const text = tr("No job has run in this session.");
  muted(p.ui, text);
  record_item(p.ui, "log/beginning", "text", text);
}

// Nothing has ever run: where to begin.
void draw_empty(const Panel& p) {
  const bool started =
      empty_page(p, "log/empty",
                 tr("No job has run in this session. Jobs report their progress and results here."),
                 tr("Measure this machine"), []() -> Command { return StartTour{}; });
  if (started) p.view.page = Page::Tour;
}

// The filter or the kinds of lines leave none.
void draw_no_match(const Panel& p) {
  if (!empty_state(p.ui, "log/clear_filter", tr("No line matches the filter."),
                   tr("Clear filter"))) {
    return;
  }
  LogForm& form = p.view.forms.log;
  form.filter.clear();
  form.info = form.warning = form.error = true;
}

void draw_entries(const Panel& p) {
  const LogForm& form = p.view.forms.log;
  const bool dates = spans_days(p.model);
  const auto& log = p.model.log();
  const bool divided = !log.empty() && log.front().earlier;
  bool in_earlier = false;
  std::time_t day = std::numeric_limits<std::time_t>::max();  // of the entries above: its start
  int shown = 0;
  const std::set<JobId> hidden = hidden_jobs(p);
  if (divided) draw_divider(p, "log/this_session", tr("This session"));
  if (p.model.logged() == 0 && !p.model.job()) draw_beginning(p);
  for (auto entry = log.rbegin(); entry != log.rend(); ++entry) {
    if (entry->earlier && !in_earlier) {
      draw_divider(p, "log/earlier", tr("Earlier sessions"));
      in_earlier = true;
      day = std::numeric_limits<std::time_t>::max();
    }
    if (!passes(form, *entry) || is_folded(p, *entry)) continue;
    if (is_note(p, *entry) && hidden.contains(entry->job)) continue;
    if (dates && !below_job(*entry) && entry->when < day) {
      const std::string date = date_of(entry->when);
      day = start_of_day(entry->when);
      caption(p.ui, date);
      record_item(p.ui, (in_earlier ? "log/earlier_date/" : "log/date/") + date, "text", date);
    }
    draw_line(p, *entry, shown, entry->seconds && form.filter.empty() ? notes_below(p, entry) : 0);
    if (entry->seconds && form.open.contains(entry->job)) draw_details(p, *entry);
    ++shown;
  }
  if (shown == 0 && !log.empty()) draw_no_match(p);
}

}  // namespace

void draw_log_page(const Panel& p) {
  const StretchedArea area(p);
  tools(p);
  Card card(p, "log/lines", tr("Events, newest first"), {.extra = spare_height(p)});
  if (!card) return;
  if (p.model.log().empty() && !p.model.job()) return draw_empty(p);
  draw_header(p);
  draw_running(p);
  draw_entries(p);
}

}  // namespace lab::ui
