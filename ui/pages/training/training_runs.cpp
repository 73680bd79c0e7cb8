// Kept trainings: which are on show, what they are called.
#include <fmt/format.h>

#include "compute/core/units.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

const RunChoice* choice_of(const Panel& p, JobId id) {
  const auto& runs = p.view.forms.training.runs;
  const auto found = runs.find(id);
  return found == runs.end() ? nullptr : &found->second;
}

std::string outcome_text(const TrainingRun& run) {
  const EpochColumns& e = run.epochs();
  std::string text = fmt::format("{} epoch{}", e.size(), e.size() == 1 ? "" : "s");
  if (e.size() > 0 && e.test_acc.back() == e.test_acc.back()) {
    text += ", test accuracy " + percent(e.test_acc.back());
  }
  if (run.done()) text += fmt::format(", {} images/s", format_si(run.done()->images_per_s, ""));
  return text;
}

void name_of_run(const Panel& p, const TrainingRun& run, RunChoice& choice) {
  Ui& ui = p.ui;
  TrainingForm& form = p.view.forms.training;
  const std::string base = fmt::format("training/runs/{}", run.id());
  if (form.renaming == run.id()) {
    input_text(ui, base + "/name", "", choice.name, "The run's name", run.name());
    return;
  }
  checkbox(ui, base + "/show", run_name(p, run), choice.shown,
           "Shows the run's curves in the plots.");
  if (run.synthetic()) synthetic_badge(p);
  caption(ui, outcome_text(run));
  if (run.done() && !run.done()->checkpoint.empty()) {
    caption(ui, "Checkpoint: " + run.done()->checkpoint);
  }
}

void run_line(const Panel& p, const TrainingRun& run, bool newest) {
  Ui& ui = p.ui;
  TrainingForm& form = p.view.forms.training;
  RunChoice& choice = form.runs[run.id()];
  const std::string base = fmt::format("training/runs/{}", run.id());
  Row row(ui, {-14, 1, -96, -36});
  row.next();
  const ImVec2 pos = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled({pos.x, pos.y + ui.px(10)},
                                            {pos.x + ui.px(12), pos.y + ui.px(22)},
                                            styled(run_color(p, run)), ui.px(3));
  row.next();
  name_of_run(p, run, choice);
  row.next();
  const bool renaming = form.renaming == run.id();
  if (button(ui, base + "/rename", renaming ? "Done" : "Rename",
             {.kind = ButtonKind::Quiet, .width = -1})) {
    form.renaming = renaming ? 0 : run.id();
  }
  row.next();
  if (!newest && icon_button(ui, base + "/delete", kIconTrash, "Removes the run from this list")) {
    choice.removed = true;
  }
}

}  // namespace

// Runs of equal settings are told apart by a number.
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
  constexpr int kColors = 8;
  return series_color(*p.ui.theme, static_cast<int>((run.id() - 1) % kColors));
}

std::vector<ShownRun> shown_runs(const Panel& p) {
  std::vector<ShownRun> shown;
  for (const TrainingRun& run : p.model.runs()) {
    const bool newest = &run == &p.model.runs().back();
    const RunChoice* choice = choice_of(p, run.id());
    if (choice != nullptr && (choice->removed || !choice->shown) && !(newest && choice->shown)) {
      continue;
    }
    std::string name = run_name(p, run);
    if (run.synthetic()) name += ", synthetic";
    shown.push_back({&run, std::move(name), run_color(p, run), newest});
  }
  return shown;
}

std::string class_name(const TrainingRun& run, int label) {
  const auto& names = run.class_names();
  const auto i = static_cast<std::size_t>(label);
  return label >= 0 && i < names.size() ? names[i] : std::to_string(label);
}

void draw_training_runs(const Panel& p) {
  Card card(p, "training/runs", "Runs",
            {.hint = "Trainings since the lab started; ticked ones are in the plots. The oldest "
                     "are forgotten when there are many."});
  if (!card) return;
  const auto& runs = p.model.runs();
  for (std::size_t i = runs.size(); i > 0; --i) {
    const TrainingRun& run = runs[i - 1];
    const RunChoice* choice = choice_of(p, run.id());
    const bool newest = i == runs.size();
    if (choice != nullptr && choice->removed && !newest) continue;
    run_line(p, run, newest);
  }
}

}  // namespace lab::ui
