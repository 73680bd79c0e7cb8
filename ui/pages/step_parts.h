#pragma once
// Names, colours and bars for the parts of a training step. For use inside ui/pages only.
#include <array>
#include <string>
#include <vector>

#include "ui/model/device_tracks.h"
#include "ui/pages/panel.h"

namespace lab::ui {

// In the order in which a step runs them.
enum class StepPart { Compute, Hidden, Waiting, Exposed };
inline constexpr std::array kStepParts = {StepPart::Compute, StepPart::Hidden, StepPart::Waiting,
                                          StepPart::Exposed};

// All-reduce has one hue, pale where backward hides it; waiting is grey.
ImU32 step_part_color(const Theme& theme, StepPart part);
// The colours of a layer's passes in one hue, and of the work done once per step: all stand out
// from the card.
ImU32 forward_color(const Theme& theme, ImU32 hue);
ImU32 backward_color(const Theme& theme, ImU32 hue);
ImU32 once_color(const Theme& theme);
const char* name_of(StepPart part);     // "all-reduce, hidden"
const char* meaning_of(StepPart part);  // one sentence
double seconds_of(const StepParts& parts, StepPart part);

// Draws the parts one after the other from `left`; `full_s` seconds span the width up to `right`. A
// non-zero part stays visible however small it is. Hatching leaves the colours of the parts as they
// are. Returns where the last part ends.
struct PartsBar {
  float left = 0, right = 0, top = 0, bottom = 0;  // pixels
  double full_s = 0;
  bool hatched = false;  // calculated, not measured
};
float draw_step_parts(const Ui& ui, const PartsBar& bar, const StepParts& parts);
// Draws the names beside their colours, wrapped to the available width; meanings on hover.
struct Swatch {
  std::string text;
  ImU32 color;
  const char* meaning = nullptr;
  bool hollow = false;   // only its outline: of what is missing
  bool hatched = false;  // of what is calculated
};
void draw_swatch(const Ui& ui, ImVec2 min, ImVec2 max, const Swatch& swatch);
void swatch_legend(const Panel& p, const std::vector<Swatch>& swatches);
// With `predicted`, an entry explains hatched bars. With `copies`, the predicted devices send
// parameters and gradients instead of an all-reduce.
void step_part_legend(const Panel& p, bool predicted = false, bool copies = false);

}  // namespace lab::ui
