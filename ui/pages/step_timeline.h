#pragma once
// The timeline of a recorded training step: one lane per device and stream of work. For use inside
// ui/pages only.
#include <string>
#include <string_view>

#include "ui/model/timeline_by_lane.h"
#include "ui/pages/panel.h"
#include "ui/pages/step_parts.h"

namespace lab::ui {

// LAB_TEXT
inline constexpr const char* kTimelineHint = LAB_TEXT(
    "When each layer ran, on every device and stream. Ctrl with the wheel zooms, "
    "dragging pans, a double-click shows the whole step. With the keyboard, "
    "left and right pan, up and down zoom.");

// What the step took, and what ran during the sums. Without the median if that is NaN.
std::string timeline_sentence(const StepTimeline& t, double median_step_s);

// Shows the whole step again.
void whole_step_button(const Panel& p, std::string_view path, TimelineForm& form);

std::vector<Swatch> timeline_legend(const Theme& theme, const StepTimeline& timeline);

// Draws the legend and the lanes. They are recorded as `path`.
void draw_timeline(const Panel& p, const std::string& path, const TimelineByLane& step,
                   TimelineForm& form);

}  // namespace lab::ui
