// The list of training runs beside the loss: which are plotted, their names, results and settings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"
#include "ui/widgets/line_breaks.h"

namespace lab::ui {
namespace {

constexpr float kLine = 24, kCaption = 18;  // units
constexpr float kNameLeft = 48;             // after the eye and the colour
constexpr float kCaptionLeft = 29;          // below the colour
constexpr std::string_view kDot = " · ";

const RunChoice* choice_of(const Panel& p, JobId id) {
  const auto& runs = p.view.forms.training.runs;
  const auto found = runs.find(id);
  return found == runs.end() ? nullptr : &found->second;
}

bool listed(const Panel& p, const TrainingRun& run) {
  const RunChoice* choice = choice_of(p, run.id());
  return choice == nullptr || !choice->removed;
}

}  // namespace

const TrainingRun* newest_run(const Panel& p) {
  const auto& runs = p.model.runs();
  const auto found = std::find_if(runs.rbegin(), runs.rend(),
                                  [&](const TrainingRun& run) { return listed(p, run); });
  return found == runs.rend() ? nullptr : &*found;
}

// A number distinguishes runs with equal settings.
std::string run_name(const Panel& p, const TrainingRun& run) {
  const RunChoice* choice = choice_of(p, run.id());
  if (choice != nullptr && !choice->name.empty()) return choice->name;
  int same = 1;
  for (const TrainingRun& other : p.model.runs()) {
    if (&other == &run) break;
    if (other.name() == run.name()) ++same;
  }
  return same == 1 ? run.name() : fmt::format("{} ({})", run.name(), same);
}

ImU32 run_color(const Panel& p, const TrainingRun& run) {
  return run_color(*p.ui.theme, run.slot());
}

plot::Line run_line(const TrainingRun& run) {
  constexpr std::array kLines = {plot::Line::Solid, plot::Line::Dashed, plot::Line::Dotted,
                                 plot::Line::DashDot};
  return kLines[static_cast<std::size_t>(run.slot() / kRunColors) % kLines.size()];
}

namespace {

// Compares a sample of the losses: it is asked in every frame.
bool coincide(const TrainingRun& a, const TrainingRun& b) {
  constexpr std::size_t kFewest = 20;  // runs of one seed start alike
  constexpr std::size_t kCompared = 64;
  const Column64 &first = a.steps().loss, &second = b.steps().loss;
  const std::size_t both = std::min(first.size(), second.size());
  if (both < kFewest) return false;
  for (std::size_t i = 0; i <= kCompared; ++i) {
    const std::size_t at = (both - 1) * i / kCompared;
    if (first[at] != second[at]) return false;
  }
  return true;
}

}  // namespace

std::vector<ShownRun> shown_runs(const Panel& p) {
  std::vector<ShownRun> shown;
  const TrainingRun* newest = newest_run(p);
  for (const TrainingRun& run : p.model.runs()) {
    const RunChoice* choice = choice_of(p, run.id());
    if (!listed(p, run) || (choice != nullptr && !choice->shown)) continue;
    std::string name = run_name(p, run);
    if (run.synthetic()) name = trf("{}, synthetic", name);
    const auto below = std::ranges::find_if(
        shown, [&](const ShownRun& earlier) { return coincide(*earlier.run, run); });
    shown.push_back({&run, std::move(name), run_color(p, run), &run == newest,
                     below == shown.end() ? nullptr : below->run});
  }
  return shown;
}

const Column64& smoothed_loss(const Panel& p, const TrainingRun& run) {
  TrainingForm& form = p.view.forms.training;
  return form.smoothed[run.id()].follow(run.steps().loss, run.steps().weight,
                                        std::clamp(form.smoothing, 0.0, kMostSmoothing));
}

double highest_smoothed_loss(const Panel& p, const TrainingRun& run) {
  smoothed_loss(p, run);
  return p.view.forms.training.smoothed[run.id()].highest();
}

// --- one run --------------------------------------------------------------------------------

namespace {

bool has_test_accuracy(const EpochColumns& e) {
  return e.size() > 0 && !std::isnan(e.test_acc.back());
}

// "loss 0.520 · test 81.3 %"
std::string results_text(const Panel& p, const TrainingRun& run) {
  const EpochColumns& e = run.epochs();
  std::string text = run.steps().size() == 0
                         ? tr("no step yet")
                         : trf("loss {}", loss_text(smoothed_loss(p, run).back()));
  if (has_test_accuracy(e)) {
    text += std::string(kDot) + trf("test {}", accuracy_text(e.test_acc.back()));
  }
  return text;
}

// What the settings of the run are where the listed runs differ, then what was changed on the way.
std::string settings_of(const TrainingRun& run, const std::vector<std::string>& different) {
  std::vector<std::string> parts = different;
  for (const TrainingChanged& change : run.changes()) parts.push_back(change_text(change));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "2026-11-27 · lr 0.5 · 1.2 k images/s": the date of a restored run, the settings that differ, and
// the speed of a run that has ended.
std::string details_of(const TrainingRun& run, const std::vector<std::string>& different,
                       bool ended) {
  std::string text = settings_of(run, different);
  if (run.ended_at() > 0) {
    const std::string date = date_of(run.ended_at());
    text = text.empty() ? date : fmt::format("{}{}{}", date, kDot, text);
  }
  if (const std::string stopped = run.stopped_text(); !stopped.empty()) {
    if (!text.empty()) text += kDot;
    text += stopped;
  }
  if (ended && run.timed() && std::isfinite(run.typical_images_per_s())) {
    if (!text.empty()) text += kDot;
    text += trf("{} images/s", run.speed_text());
  }
  return text;
}

std::string hint_of(const Panel& p, const TrainingRun& run,
                    const std::vector<std::string>& different) {
  const EpochColumns& e = run.epochs();
  std::string text = run_name(p, run);
  for (const std::string& line : {settings_of(run, different), run.stopped_text()}) {
    if (!line.empty()) text += "\n" + line;
  }
  if (run.steps().size() == 0) {
    text += std::string("\n") + tr("no step yet");
  } else {
    add_row(text, tr("loss"), loss_text(smoothed_loss(p, run).back()));
  }
  if (has_test_accuracy(e)) add_row(text, tr("test accuracy"), accuracy_text(e.test_acc.back()));
  add_row(text, tr("epochs"), std::to_string(e.size()));
  if (run.done() && run.timed()) add_row(text, tr("images/s"), run.speed_text());
  if (run.done() && !run.done()->checkpoint.empty()) {
    add_row(text, tr("checkpoint"), run.done()->checkpoint);
  }
  return text + "\n" + tr("Click to rename");
}

void eye(const Panel& p, const TrainingRun& run, const std::string& path, ImVec2 pos) {
  Ui& ui = p.ui;
  RunChoice& choice = p.view.forms.training.runs[run.id()];
  const float side = ui.px(kLine);
  const Item item = control_at(path, pos, {pos.x + side, pos.y + side});
  if (item.pressed) choice.shown = !choice.shown;
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (item.hovered) list->AddRectFilled(item.min, item.max, styled(ui.theme->hover), ui.px(4));
  draw_icon(list, choice.shown ? kIconEye : kIconEyeOff, {pos.x + ui.px(3), pos.y + ui.px(3)},
            side - ui.px(6), styled(choice.shown ? ui.theme->text : ui.theme->muted));
  focus_ring(ui, item, ui.px(4));
  hint_at(ui, item.min, item.max, tr("Shows or hides the run's curves."));
  record(ui, item, path, "checkbox", run_name(p, run), choice.shown ? "on" : "off");
}

void name_field(const Panel& p, const TrainingRun& run, const std::string& base, ImVec2 pos) {
  TrainingForm& form = p.view.forms.training;
  const ImVec2 back = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos(pos);
  const bool appears = form.rename_appears;
  if (appears) ImGui::SetKeyboardFocusHere();
  form.rename_appears = false;
  input_text(p.ui, base + "/name", "", form.runs[run.id()].name, tr("The run's name"), run.name());
  if (!appears && ImGui::IsItemDeactivated()) form.renaming = 0;
  ImGui::SetCursorScreenPos(back);
}

// Details that do not fit have the speed on a line of its own.
std::string details_lines(ImFont* font, std::string details, float width) {
  const std::size_t dot = details.rfind(kDot);
  if (dot != std::string::npos && text_size(font, details).x > width) {
    details.replace(dot, kDot.size(), "\n");
  }
  return break_lines(font, details, width);
}

// Height of the lines after the first.
float further_lines(const ImFont* font, const std::string& lines) {
  return font->FontSize * static_cast<float>(std::ranges::count(lines, '\n'));
}

void draw_lines(ImFont* font, ImVec2 pos, ImU32 color, const std::string& lines) {
  note_text(font, lines);
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, pos, styled(color), lines.c_str());
}

void name_label(const Panel& p, const TrainingRun& run, const std::string& base, ImVec2 min,
                ImVec2 max, const std::string& lines, const std::vector<std::string>& different) {
  Ui& ui = p.ui;
  TrainingForm& form = p.view.forms.training;
  const std::string path = base + "/rename";
  const Item item = control_at(path, min, max);
  if (item.pressed) {
    form.renaming = run.id();
    form.rename_appears = true;
  }
  if (!item.visible) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (item.hovered) list->AddRectFilled(min, max, styled(ui.theme->hover), ui.px(4));
  draw_lines(ui.fonts.body,
             {min.x + ui.px(4), min.y + (ui.px(kLine) - ui.fonts.body->FontSize) / 2},
             ui.theme->text, lines);
  focus_ring(ui, item, ui.px(4));
  if (item.hovered) hint_at(ui, min, max, hint_of(p, run, different));
  record(ui, item, path, "button", run_name(p, run));
}

void delete_button(const Panel& p, const TrainingRun& run, const std::string& path, ImVec2 pos) {
  Ui& ui = p.ui;
  TrainingForm& form = p.view.forms.training;
  const float side = ui.px(kLine);
  const Item item = control_at(path, pos, {pos.x + side, pos.y + side});
  if (item.pressed) {
    form.runs[run.id()].removed = true;
    form.removed.push_back(run.id());
  }
  if (!item.visible) return;
  draw_icon(ImGui::GetWindowDrawList(), kIconTrash, {pos.x + ui.px(4), pos.y + ui.px(4)},
            side - ui.px(8), styled(item.hovered ? ui.theme->text : ui.theme->muted));
  focus_ring(ui, item, ui.px(4));
  const char* const text =
      tr("Deletes the run. Its file is removed when a training starts or the window closes.");
  hint_at(ui, item.min, item.max, text);
  record(ui, item, path, "button", text);
}

// A disc in the run's colour; for dashed curves, a piece of one.
void run_swatch(const Panel& p, const TrainingRun& run, ImVec2 centre) {
  struct Piece {
    float left, width;  // units
  };
  constexpr std::array kDisc = {Piece{-6, 12}};
  constexpr std::array kDashes = {Piece{-9, 7}, Piece{2, 7}};
  constexpr std::array kDots = {Piece{-8, 3}, Piece{-2, 3}, Piece{4, 3}};
  constexpr std::array kDashDot = {Piece{-9, 9}, Piece{4, 3}};
  const auto draw = [&](std::span<const Piece> pieces, float high) {
    for (const Piece& piece : pieces) {
      const float left = centre.x + p.ui.px(piece.left), top = centre.y - p.ui.px(high / 2);
      ImGui::GetWindowDrawList()->AddRectFilled(
          {left, top}, {left + p.ui.px(piece.width), top + p.ui.px(high)},
          styled(run_color(p, run)), p.ui.px(std::min(piece.width, high) / 2));
    }
  };
  switch (run_line(run)) {
    case plot::Line::Solid: return draw(kDisc, 12);
    case plot::Line::Dashed: return draw(kDashes, 4);
    case plot::Line::Dotted: return draw(kDots, 4);
    case plot::Line::DashDot: return draw(kDashDot, 4);
  }
}

// The controls are there even out of sight, so that the keyboard reaches them.
void run_row(const Panel& p, const TrainingRun& run, const std::vector<std::string>& different) {
  Ui& ui = p.ui;
  const std::string base = fmt::format("training/runs/{}", run.id());
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, right = pos.x + width;
  const bool running = &run == running_training(p);
  const bool renaming = p.view.forms.training.renaming == run.id();
  const std::string details = details_of(run, different, running_training(p) != &run);
  const float left = pos.x + ui.px(kNameLeft - 4), text_left = pos.x + ui.px(kCaptionLeft);
  const float end = running ? right : right - ui.px(kLine + 4);
  const std::string name = break_lines(ui.fonts.body, run_name(p, run), end - left - ui.px(8));
  const std::string settings = details_lines(ui.fonts.caption, details, right - text_left);
  const float head =
      renaming ? ui.px(kControlHeight + 4) : ui.px(kLine) + further_lines(ui.fonts.body, name);
  const float below =
      ui.px(kCaption * (details.empty() ? 1 : 2)) + further_lines(ui.fonts.caption, settings);
  ImGui::Dummy({width, head + below});
  const bool visible = ImGui::IsItemVisible();
  eye(p, run, base + "/show", pos);
  run_swatch(p, run, {pos.x + ui.px(kLine + 11), pos.y + ui.px(kLine / 2)});
  if (renaming) {
    name_field(p, run, base, {left, pos.y});
  } else {
    name_label(p, run, base, {left, pos.y}, {end, pos.y + head}, name, different);
    if (!running) delete_button(p, run, base + "/delete", {right - ui.px(kLine), pos.y});
  }
  if (!visible) return;
  const float y = pos.y + head;
  draw_text_fitted(ImGui::GetWindowDrawList(), ui.fonts.caption, {text_left, y}, right - text_left,
                   ui.theme->muted, results_text(p, run));
  draw_lines(ui.fonts.caption, {text_left, y + ui.px(kCaption)}, ui.theme->muted, settings);
  record_rect(ui, base, "run", run_name(p, run), details, true, pos, {right, y + below});
}

void undo_line(const Panel& p) {
  TrainingForm& form = p.view.forms.training;
  const auto& runs = p.model.runs();
  const auto find = [&](JobId id) { return std::ranges::find(runs, id, &TrainingRun::id); };
  std::erase_if(form.removed, [&](JobId id) { return find(id) == runs.end(); });
  std::erase_if(form.smoothed, [&](const auto& entry) { return find(entry.first) == runs.end(); });
  if (form.removed.empty()) return;
  const JobId last = form.removed.back();
  caption(p.ui, trf("Removed: {}", run_name(p, *find(last))));
  if (button(p.ui, "training/runs/undo", tr("Undo"), {.kind = ButtonKind::Normal, .width = -1})) {
    form.runs[last].removed = false;
    form.removed.pop_back();
  }
}

// The settings of the run with that index in which the runs differ, without those that its name or
// the headline of its group states.
std::vector<std::string> beside_name(const Panel& p, const TrainingRun& run,
                                     const std::vector<DifferingSetting>& settings,
                                     std::size_t index) {
  const RunChoice* choice = choice_of(p, run.id());
  const bool renamed = choice != nullptr && !choice->name.empty();
  std::vector<std::string> values;
  for (const DifferingSetting& setting : settings) {
    if (!renamed && run.is_in_name(setting.key)) continue;
    if (setting.key == p.view.forms.training.group_by) continue;
    values.push_back(setting.values[index]);
  }
  return values;
}

// --- groups ---------------------------------------------------------------------------------

// Returns the setting by which the runs are grouped; null if they are not.
const DifferingSetting* group_setting(const Panel& p,
                                      const std::vector<DifferingSetting>& settings) {
  const auto found =
      std::ranges::find(settings, p.view.forms.training.group_by, &DifferingSetting::key);
  return found == settings.end() ? nullptr : &*found;
}

void group_field(const Panel& p, const std::vector<DifferingSetting>& settings) {
  constexpr const char* kNone = LAB_TEXT("none");
  std::vector<std::string> choices{kNone};
  int chosen = 0;
  for (const DifferingSetting& setting : settings) {
    if (setting.key == p.view.forms.training.group_by) chosen = static_cast<int>(choices.size());
    choices.emplace_back(setting.label);
  }
  if (combo(p.ui, "training/runs/group", tr("Group by"), choices, chosen,
            tr("Lists the runs by one of the settings in which they differ"))) {
    p.view.forms.training.group_by =
        chosen == 0 ? "" : settings[static_cast<std::size_t>(chosen) - 1].key;
  }
}

// "lr 0.3: 3 runs, test 81.2 % (80.4 % to 82.1 %)": the last test accuracies' mean and range.
std::string group_text(const std::string& value, const std::vector<const TrainingRun*>& runs) {
  const std::string count =
      runs.size() == 1 ? std::string(tr("1 run")) : trf("{} runs", runs.size());
  double sum = 0, least = 1, most = 0;
  std::size_t n = 0;
  for (const TrainingRun* run : runs) {
    if (run->epochs().size() == 0 || !std::isfinite(run->epochs().test_acc.back())) continue;
    const double accuracy = run->epochs().test_acc.back();
    sum += accuracy;
    least = std::min(least, accuracy);
    most = std::max(most, accuracy);
    ++n;
  }
  if (n == 0) return fmt::format("{}: {}", value, count);
  const std::string mean = trf("test {}", accuracy_text(sum / static_cast<double>(n)));
  if (n == 1) return fmt::format("{}: {}, {}", value, count, mean);
  return fmt::format("{}: {}, {} ({})", value, count, mean,
                     trf("{} to {}", accuracy_text(least), accuracy_text(most)));
}

void draw_groups(const Panel& p, const std::vector<const TrainingRun*>& runs,
                 const DifferingSetting& setting, const std::vector<DifferingSetting>& settings) {
  std::vector<std::string> drawn;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string& value = setting.values[i];
    if (std::ranges::find(drawn, value) != drawn.end()) continue;
    drawn.push_back(value);
    std::vector<const TrainingRun*> group;
    for (std::size_t j = i; j < runs.size(); ++j) {
      if (setting.values[j] == value) group.push_back(runs[j]);
    }
    const std::string text = group_text(value, group);
    footnote(p.ui, text);
    record_item(p.ui, fmt::format("training/runs/groups/{}", drawn.size()), "text", text);
    for (std::size_t j = i; j < runs.size(); ++j) {
      if (setting.values[j] == value) run_row(p, *runs[j], beside_name(p, *runs[j], settings, j));
    }
  }
}

}  // namespace

void draw_training_runs(const Panel& p, float height) {
  Card card(
      p, "training/runs", tr("Runs"),
      {.height = height,
       .hint = tr("Training runs, newest first. The eye shows or hides a run's curves; the "
                  "last line has the settings that its name lacks and in which the runs differ, "
                  "and the speed. The oldest runs are removed when the list is full.")});
  if (!card) return;
  undo_line(p);
  std::vector<const TrainingRun*> runs;
  for (auto run = p.model.runs().rbegin(); run != p.model.runs().rend(); ++run) {
    if (listed(p, *run)) runs.push_back(&*run);
  }
  const std::vector<DifferingSetting>& settings = p.view.forms.training.differences.of(runs);
  if (!settings.empty()) group_field(p, settings);
  if (const DifferingSetting* setting = group_setting(p, settings)) {
    return draw_groups(p, runs, *setting, settings);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    run_row(p, *runs[i], beside_name(p, *runs[i], settings, i));
  }
}

}  // namespace lab::ui
