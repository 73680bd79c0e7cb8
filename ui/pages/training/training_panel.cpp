// Training: the form, live curves, what the network sees, and kept runs to compare with.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compute/core/units.h"
#include "ui/pages/training/training_parts.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

constexpr std::size_t kFewDevices = 4;

const std::vector<std::string>& axis_names() {
  static const std::vector<std::string> kNames = {"Step", "Epoch", "Time"};
  return kNames;
}

void nothing_card(const Panel& p) {
  Card card(p, "training/nothing", "", {.extra = spare_height(p)});
  if (!card) return;
  if (runs(p, JobKind::Training)) {
    muted(p.ui, "The data is being read; the first step appears here at once.");
    return;
  }
  if (!empty_page(p, "training/empty",
                  "Nothing has been trained yet. Watch the loss of each step, the accuracy of "
                  "each epoch, and what the network takes for what.",
                  "Train")) {
    return;
  }
  const TrainingForm& form = p.view.forms.training;
  const MachineInfo& machine = p.model.machine();
  const bool fits = complaint([&] { return to_command(form, machine); }).empty();
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

// The run in four figures.
void summary_card(const Panel& p, const TrainingRun& run) {
  Card card(p, "training/summary", "");
  if (!card) return;
  const StepColumns& steps = run.steps();
  body(p.ui, run_name(p, run));
  record_item(p.ui, "training/run_name", "text", run_name(p, run));
  if (run.synthetic()) synthetic_badge(p);
  const std::array<TrainingFigure, 4> figures = {{
      {"training/figure/loss", "loss, smoothed",
       steps.size() == 0 ? "N/A" : fmt::format("{:.3f}", steps.loss_smooth.back()),
       "Mean cross-entropy of the batch; exponential average over about 20 steps."},
      {"training/figure/train_acc", "train accuracy", latest(run.epochs().train_acc),
       "Share of the training images named right during the last epoch."},
      {"training/figure/test_acc", "test accuracy", latest(run.epochs().test_acc),
       "Share of the test images named right after the last epoch; they were never trained on."},
      {"training/figure/speed", "images/s, smoothed",
       steps.size() == 0 ? "N/A" : format_si(steps.images_per_s_smooth.back(), ""),
       "Training images per second of step time; data and evaluation left out."},
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
  segmented(p.ui, "training/x_axis", "Horizontal axis", axis_names(), form.x_axis,
            "Of the loss, accuracy and speed plots.");
  pair.next();
  control_label(p.ui, "Right click a plot for more");
  checkbox(p.ui, "training/log_loss", "Logarithmic loss", form.log_loss,
           "Shows small changes of a small loss.");
}

void plots(const Panel& p) {
  // Many devices, or a low window, would push the loss out of sight.
  const TrainingRun& newest = p.model.runs().back();
  const bool first = !p.folded() && newest.devices().all().size() <= kFewDevices;
  if (first) draw_training_devices(p, newest);
  axis_choice(p);
  draw_loss_plot(p);
  if (!first) draw_training_devices(p, newest);
  if (profile_asked(newest)) draw_training_layers(p, newest);
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
  if (!profile_asked(newest)) draw_training_layers(p, newest);
}

void training_results(const Panel& p) {
  outcome_box(p, JobKind::Training, "training");
  if (p.model.runs().empty()) {
    nothing_card(p);
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
