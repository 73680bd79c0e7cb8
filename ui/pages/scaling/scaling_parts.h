#pragma once
// The cards of the Scaling page and their texts. For use inside ui/pages only.
#include <string>
#include <string_view>
#include <vector>

#include "ui/model/device_tracks.h"
#include "ui/pages/panel.h"

namespace lab::ui {

void draw_scaling_form(const Panel& p);
// Whether the running job adds to these results.
inline bool is_filling(const Panel& p, const Kept<ScalingResults>& kept) {
  return runs(p, Page::Scaling) && &kept == &p.model.scaling() && !is_old(kept);
}
// The results as key numbers and in sentences.
void draw_scaling_summary(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode);
void draw_speedup_plots(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode);
// One bar per device count, showing where a step's time goes. The card grows by `extra` units.
void draw_scaling_steps(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode,
                        float extra = 0);
// One recorded step, on every device: of the device count whose bar was chosen. Draws nothing if
// none was recorded.
void draw_scaling_timeline(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode);
// That device count; 0: none was recorded.
int timeline_devices(const ScalingForm& form, const ScalingResults& results, ScalingMode mode);
// The model's predictions of published figures.
void draw_model_check(const Panel& p);

// Computes a prediction from the form without measuring; a width as of button(). The tooltip says
// from what, or why it cannot.
void draw_predict_button(const Panel& p, std::string_view path, std::string_view label,
                         float width);
// Whether the form's settings would give another prediction than the one of the results.
bool is_of_other_settings(const Panel& p, const ScalingResults& results, ScalingMode mode);
inline constexpr float kOtherSettingsAlpha = 0.4F;  // of such a prediction

// Returns the point with the most devices among those with separate cores per device; if there is
// none, the point with the most devices; null if nothing was measured.
const ScalingPoint* best_point(const ScalingCurve& curve);

// Whether the measured steps vary too much to check the model against them. A prediction that is
// withheld for its error keeps that reason.
bool too_unsteady_to_check(const ScalingResults& results, ScalingMode mode);

// --- texts ----------------------------------------------------------------------------------
std::string devices_text(int devices);  // "1 device", "2 devices"

// Reports how far the model is from published figures; empty without a comparison.
std::string check_sentence(const ScalingComparison& comparison);
// Names the device count with the most images per second; empty if that is the largest one.
std::string fastest_sentence(const ScalingCurve& curve);
std::string fastest_sentence(const PredictedCurve& curve);
// Compares the accuracies on all device counts; empty if fewer than two were measured.
std::string accuracy_sentence(const ScalingCurve& curve);
// The sentences of the summary.
struct ScalingTexts {
  // What makes the measured figures rough: other programs or unsteady steps; empty if nothing does.
  std::string rough;
  // The measured times; empty if there are none. Rough figures are not explained.
  std::vector<std::string> measured;
  // What limits the prediction for the most devices and what it is based on, or why it is withheld
  // and what to do; empty if there is none.
  std::string predicted;
  // Whether the prediction rests on an unsteady step: no limit is named then.
  bool rough_basis = false;
};
ScalingTexts scaling_texts(const ScalingResults& results, ScalingMode mode);
// Reports the model's error at device counts that were also measured, or that only one device was;
// empty without a prediction, without a check, and for a withheld prediction, whose reason states
// it.
std::string model_error_sentence(const ScalingResults& results, ScalingMode mode);
// Returns the origin of the prediction's compute time: "the step measured on cpu:0".
std::string basis_text(const ScalingResults& results, const ScalingPrediction& prediction);

// Describes the provenance of one point, line by line, for tooltips.
std::string describe(const ScalingResults& results, const ScalingPoint& point);
std::string describe(const ScalingResults& results, const ScalingPrediction& prediction);

// Splits a step of `step_s` seconds into parts that sum to at most that. Hidden all-reduce counts
// only as far as it occupied a device's cores, not where it ran alongside the computation.
StepParts parts_of(const StepSplit& split, double step_s);
// The parts are means and the step is a median: applies the shares of the parts to it.
StepParts parts_of(const ScalingPoint& point);
// Counts the time of the process as waiting.
StepParts parts_of(const ScalingPrediction& prediction);

}  // namespace lab::ui
