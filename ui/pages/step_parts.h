#pragma once
// How the parts of a training step look wherever a step is split. For use inside ui/pages only.
#include <array>
#include <string>
#include <vector>

#include "ui/model/device_tracks.h"
#include "ui/pages/panel.h"

namespace lab::ui {

// In the order of the step.
enum class StepPart { Compute, Hidden, Waiting, Exposed };
inline constexpr std::array kStepParts = {StepPart::Compute, StepPart::Hidden, StepPart::Waiting,
                                          StepPart::Exposed};

// One hue for all-reduce, pale where backward hides it; waiting is grey.
ImU32 step_part_color(const Theme& theme, StepPart part);
const char* name_of(StepPart part);     // "all-reduce, hidden"
const char* meaning_of(StepPart part);  // a sentence
double seconds_of(const StepParts& parts, StepPart part);

// The parts one after the other from `left`; the width up to `right` stands for `full_s` seconds.
// What is there shows, however small. Returns where the last part ends.
struct PartsBar {
  float left = 0, right = 0, top = 0, bottom = 0;  // pixels
  double full_s = 0;
  float alpha = 1;
};
float draw_step_parts(const Ui& ui, const PartsBar& bar, const StepParts& parts);
// Names beside their colours over the width that is left, in a line or two; meanings on hover.
struct Swatch {
  std::string text;
  ImU32 color;
  const char* meaning = nullptr;
};
void swatch_legend(const Panel& p, const std::vector<Swatch>& swatches);
void step_part_legend(const Panel& p);

}  // namespace lab::ui
