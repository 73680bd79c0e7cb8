// The Training page: form, live curves, predictions, and kept runs for comparison.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/item.h"

namespace lab::ui {
// --- kept runs: visibility and names --------------------------------------------------------

namespace {

const RunChoice* choice_of(const Panel& p, JobId id) {
  const auto& runs = p.view.forms.training.runs;
  const auto found = runs.find(id);
  return found == runs.end() ? nullptr : &found->second;
}

std::string outcome_text(const TrainingRun& run) {
  const EpochColumns& e = run.epochs();
  std::string text = e.size() == 1 ? tr("1 epoch") : trf("{} epochs", e.size());
  if (e.size() > 0 && e.test_acc.back() == e.test_acc.back()) {
    text += ", " + trf("test accuracy {}", percent(e.test_acc.back()));
  }
  if (run.done()) text += ", " + trf("{} images/s", format_si(run.done()->images_per_s, ""));
  return text;
}

void name_of_run(const Panel& p, const TrainingRun& run, RunChoice& choice) {
  Ui& ui = p.ui;
  TrainingForm& form = p.view.forms.training;
  const std::string base = fmt::format("training/runs/{}", run.id());
  if (form.renaming == run.id()) {
    input_text(ui, base + "/name", "", choice.name, tr("The run's name"), run.name());
    return;
  }
  checkbox(ui, base + "/show", run_name(p, run), choice.shown,
           tr("Shows the run's curves in the plots."));
  if (run.synthetic()) synthetic_badge(p);
  caption(ui, outcome_text(run));
  if (run.done() && !run.done()->checkpoint.empty()) {
    caption(ui, trf("Checkpoint: {}", run.done()->checkpoint));
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
  if (button(ui, base + "/rename", renaming ? tr("Done") : tr("Rename"),
             {.kind = ButtonKind::Quiet, .width = -1})) {
    form.renaming = renaming ? 0 : run.id();
  }
  row.next();
  if (!newest &&
      icon_button(ui, base + "/delete", kIconTrash, tr("Removes the run from this list"))) {
    choice.removed = true;
  }
}

}  // namespace

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
    if (run.synthetic()) name = trf("{}, synthetic", name);
    shown.push_back({&run, std::move(name), run_color(p, run), newest});
  }
  return shown;
}

std::string class_name(const TrainingRun& run, int label) {
  const auto& names = run.class_names();
  const auto i = static_cast<std::size_t>(label);
  return label >= 0 && i < names.size() ? tr(names[i]) : std::to_string(label);
}

// --- the page -------------------------------------------------------------------------------

namespace {

void draw_training_runs(const Panel& p) {
  Card card(p, "training/runs", tr("Runs"),
            {.hint = tr("Training runs since the lab started; ticked ones are plotted. The oldest "
                        "are removed when the list is full.")});
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

constexpr std::size_t kFewDevices = 4;

std::vector<std::string> axis_names() {
  return {LAB_TEXT("Step"), LAB_TEXT("Epoch"), LAB_TEXT("Time")};
}

void empty_card(const Panel& p) {
  Card card(p, "training/nothing", "", {.extra = spare_height(p)});
  if (!card) return;
  if (runs(p, Page::Training)) {
    muted(p.ui, tr("Reading the data; the first step appears here immediately."));
    return;
  }
  if (!empty_page(p, "training/empty",
                  tr("Nothing has been trained yet. Watch the loss of each step, the accuracy of "
                     "each epoch, and which classes the network confuses."),
                  tr("Train"))) {
    return;
  }
  const TrainingForm& form = p.view.forms.training;
  const MachineInfo& machine = p.model.machine();
  const bool fits = problem([&] { return to_command(form, machine); }).empty();
  send(p, to_command(fits ? form : TrainingForm{}, machine));
}

std::string latest(const Column64& column) {
  for (std::size_t i = column.size(); i > 0; --i) {
    if (column[i - 1] == column[i - 1]) return percent(column[i - 1]);
  }
  return "N/A";
}

struct TrainingFigure {
  const char* path;
  const char* label;
  std::string value;
  const char* hint;
};

// Shows four key numbers of the run.
void summary_card(const Panel& p, const TrainingRun& run) {
  Card card(p, "training/summary", "");
  if (!card) return;
  const StepColumns& steps = run.steps();
  body(p.ui, run_name(p, run));
  record_item(p.ui, "training/run_name", "text", run_name(p, run));
  if (run.synthetic()) synthetic_badge(p);
  const std::array<TrainingFigure, 4> figures = {{
      {"training/figure/loss", tr("loss, smoothed"),
       steps.size() == 0 ? "N/A" : fmt::format("{:.3f}", steps.loss_smooth.back()),
       tr("Mean cross-entropy of the batch; exponential average over about 20 steps.")},
      {"training/figure/train_acc", tr("train accuracy"), latest(run.epochs().train_acc),
       tr("Share of the training images classified correctly during the last epoch.")},
      {"training/figure/test_acc", tr("test accuracy"), latest(run.epochs().test_acc),
       tr("Share of the test images classified correctly after the last epoch; none is used for "
          "training.")},
      {"training/figure/speed", tr("images/s, smoothed"),
       steps.size() == 0 || !run.timed() ? "N/A" : format_si(steps.images_per_s_smooth.back(), ""),
       run.timed()
           ? tr("Training images per second of step time, excluding data loading and evaluation.")
           : tr(kEmulatedGpu)},
  }};
  const std::size_t columns = width_left(p) > 520 ? 4 : 2;
  for (std::size_t first = 0; first < figures.size(); first += columns) {
    const std::vector<float> weights(columns, 1.0F);
    Row row(p.ui, weights);
    for (std::size_t i = first; i < first + columns; ++i) {
      row.next();
      ImGui::BeginGroup();
      caption(p.ui, figures[i].label);
      if (figures[i].value.find(' ') == std::string::npos) {
        title(p.ui, figures[i].value);
      } else {
        number(p.ui, figures[i].value, p.ui.fonts.title);
      }
      ImGui::EndGroup();
      record_item(p.ui, figures[i].path, "figure", figures[i].label, figures[i].value);
      hint(p.ui, figures[i].hint);
    }
  }
}

void axis_choice(const Panel& p) {
  TrainingForm& form = p.view.forms.training;
  Pair pair(p, 420);
  pair.next();
  segmented(p.ui, "training/x_axis", tr("Horizontal axis"), axis_names(), form.x_axis,
            tr("Of the loss, accuracy and speed plots."));
  pair.next();
  control_label(p.ui, tr("Right-click a plot for more"));
  checkbox(p.ui, "training/log_loss", tr("Logarithmic loss"), form.log_loss,
           tr("Shows small changes of a small loss."));
}

void plots(const Panel& p) {
  // With many devices or in a low window, the device card would push the loss plot out of sight.
  const TrainingRun& newest = p.model.runs().back();
  const bool first = !p.folded() && newest.devices().all().size() <= kFewDevices;
  if (first) draw_training_devices(p, newest);
  axis_choice(p);
  draw_loss_plot(p);
  if (!first) draw_training_devices(p, newest);
  if (profile_requested(newest)) draw_training_layers(p, newest);
  {
    Pair pair(p);
    pair.next();
    draw_accuracy_plot(p);
    pair.next();
    draw_speed_plot(p);
  }
  {
    Pair pair(p);
    pair.next();
    draw_seconds_plot(p);
    pair.next();
    draw_confusion(p, newest);
  }
  draw_predictions(p, newest);
  if (!profile_requested(newest)) draw_training_layers(p, newest);
}

void training_results(const Panel& p) {
  outcome_box(p, Page::Training);
  if (p.model.runs().empty()) {
    empty_card(p);
    return;
  }
  summary_card(p, p.model.runs().back());
  plots(p);
  draw_training_runs(p);
}

}  // namespace

void draw_training_page(const Panel& p) {
  draw_form_and_results(p, draw_training_form, training_results);
}

}  // namespace lab::ui
