// The card of the timeline of a step.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "compute/core/language.h"
#include "ui/pages/step_timeline.h"
#include "ui/pages/training/training_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

// The loss of every step recorded by the page, at most as many points as a trace holds.
std::vector<LossPoint> losses_of(const TrainingRun& run) {
  constexpr std::size_t kMost = 4096;
  const StepColumns& steps = run.steps();
  const std::size_t stride = steps.size() / kMost + 1;
  std::vector<LossPoint> losses;
  for (std::size_t i = 0; i < steps.size(); i += stride) {
    losses.push_back({.step = static_cast<std::int64_t>(steps.step[i]),
                      .t_s = steps.t_s[i],
                      .loss = steps.loss[i]});
  }
  return losses;
}

void draw_buttons(const Panel& p, const TrainingRun& run,
                  const std::shared_ptr<const TimelineByLane>& step) {
  Ui& ui = p.ui;
  const StepTimeline& t = step->timeline();
  TrainingForm& form = p.view.forms.training;
  Row row(ui, {1, -120, -130});
  row.next();
  bool held = form.held.step != nullptr;
  if (checkbox(ui, "training/lanes/hold", tr("Hold this step"), held,
               tr("Keeps showing this step while the training records others."))) {
    form.held = held ? HeldStep{run.id(), step} : HeldStep{};
  }
  row.next();
  whole_step_button(p, "training/lanes/whole", form.timeline);
  row.next();
  if (button(ui, "training/lanes/export", tr("Export trace"),
             {.hint = tr("Saves this step and the loss as a Chrome trace, which Perfetto and "
                         "chrome://tracing open."),
              .width = -1})) {
    p.out.push_back(SaveText{plot::save_file(fmt::format("training-step-{}", t.step), "trace.json"),
                             chrome_trace({t}, losses_of(run))});
  }
}

// Shown without a timeline: what is pending, or how to obtain one.
void draw_no_timeline(const Panel& p, const TrainingRun& run) {
  TrainingForm& form = p.view.forms.training;
  if (run.request().timeline) {
    if (run.restored()) return draw_not_kept(p, "training/lanes");
    muted(p.ui, running_training(p) == &run
                    ? tr("The first two steps are warm-up; the third one appears here.")
                    : tr("The training ended before a step was recorded."));
    return;
  }
  if (form.request.timeline) {
    muted(p.ui, tr("The next training run records one step per second."));
    return;
  }
  muted(p.ui, tr("To see when each layer ran and how the gradient sums hide under backward, "
                 "record a timeline."));
  if (button(
          p.ui, "training/lanes/on", tr("Record a timeline"),
          {.hint = tr("Ticks the box under More settings; applies to the next training run.")})) {
    form.request.timeline = true;
  }
}

}  // namespace

void draw_training_timeline(const Panel& p, const TrainingRun& run) {
  Card card(p, "training/lanes", tr("Timeline of a step"), {.hint = tr(kTimelineHint)});
  if (!card) return;
  TrainingForm& form = p.view.forms.training;
  if (form.held.run != run.id()) form.held = {};
  if (!run.timeline()) return draw_no_timeline(p, run);
  const std::shared_ptr<const TimelineByLane> step =
      form.held.step ? form.held.step : run.timeline();
  const StepTimeline& t = step->timeline();
  // Both kinds of kernels have a median of their own.
  const bool one_kind = run.timed() && !run.request().compare_kernels;
  const std::string sentence = timeline_sentence(t, one_kind ? run.median_step_s() : NAN);
  body(p.ui, sentence);
  record_item(p.ui, "training/lanes/sentence", "text", sentence);
  draw_buttons(p, run, step);
  draw_timeline(p, "training/lanes/view", *step, form.timeline);
}

}  // namespace lab::ui
