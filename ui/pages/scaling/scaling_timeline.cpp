// The card of the timeline: one recorded step of a device count.
#include <fmt/format.h>

#include <cmath>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/pages/scaling/scaling_parts.h"
#include "ui/pages/step_timeline.h"
#include "ui/plot/plot.h"

namespace lab::ui {
namespace {

// Warns of a step that is unlike the others; empty if it is not.
std::string unlike_sentence(const StepTimeline& t, double median_s) {
  constexpr double kAlike = 0.25;
  if (!t.timed || std::abs(t.seconds - median_s) <= kAlike * median_s) return "";
  return trf("Unlike most: the median step takes {}.", format_seconds(median_s));
}

void timeline_head(const Panel& p, const StepTimeline& t, double median_s) {
  Row row(p.ui, {1, -120, -130});
  row.next();
  const std::string unlike = unlike_sentence(t, median_s);
  if (!unlike.empty()) warning_sentence(p, "scaling/lanes/unlike", unlike);
  const std::string sentence = timeline_sentence(t, unlike.empty() ? median_s : NAN);
  body(p.ui, sentence);
  record_item(p.ui, "scaling/lanes/sentence", "text", sentence);
  row.next();
  whole_step_button(p, "scaling/lanes/whole", p.view.forms.scaling.timeline);
  row.next();
  if (button(p.ui, "scaling/lanes/export", tr("Export trace"),
             {.hint = tr("Saves this step as a Chrome trace, which Perfetto and chrome://tracing "
                         "open."),
              .width = -1})) {
    const std::string name = fmt::format("scaling-step-{}-devices", t.devices.size());
    p.out.push_back(SaveText{plot::save_file(name, "trace.json"), chrome_trace({t}, {})});
  }
}

}  // namespace

int timeline_devices(const ScalingForm& form, const ScalingResults& results, ScalingMode mode) {
  if (results.step(mode, form.timeline_devices) != nullptr) return form.timeline_devices;
  int most = 0;
  for (const ScalingPoint& point : results.measured(mode).points) {
    if (results.step(mode, point.devices) != nullptr) most = point.devices;
  }
  return most;
}

void draw_scaling_timeline(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode) {
  const ScalingResults& results = shown(kept);
  ScalingForm& form = p.view.forms.scaling;
  const int devices = timeline_devices(form, results, mode);
  if (devices == 0) return;
  const TimelineByLane& step = *results.step(mode, devices);
  const std::string on = devices_text(devices);
  const Card card(p, "scaling/lanes", tr("Timeline of a step"),
                  {.hint = tr(kTimelineHint), .note = on, .dimmed = is_old(kept)});
  if (!card) return;
  timeline_head(p, step.timeline(), results.measured(mode).at(devices)->step.median_s);
  draw_timeline(p, "scaling/lanes/view", step, form.timeline);
}

}  // namespace lab::ui
