#pragma once
// The cards of the Scaling page and the words they use. For use inside ui/pages only.
#include <string>
#include <vector>

#include "ui/model/device_tracks.h"
#include "ui/pages/panel.h"

namespace lab::ui {

void draw_scaling_form(const Panel& p);
// What was found, in four figures and in words.
void draw_scaling_summary(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode);
void draw_speedup_plots(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode);
// One bar a number of devices: where a step's time goes. `extra` units higher than it needs.
void draw_scaling_steps(const Panel& p, const Kept<ScalingResults>& kept, ScalingMode mode,
                        float extra = 0);
void draw_scaling_accuracy(const Panel& p, const Kept<ScalingResults>& kept);

// The point with most devices that has cores of its own for each, else the one with most; null when
// none was measured.
const ScalingPoint* best_point(const ScalingCurve& curve);

// --- words ----------------------------------------------------------------------------------
std::string devices_text(int devices);  // "1 device", "2 devices"
std::string times_text(double times);   // "1.94", "15.1"

// What the measured points say; empty without any.
std::vector<std::string> measured_sentences(const ScalingResults& results, ScalingMode mode);
// What the prediction for the most devices says and rests on; empty without one.
std::string prediction_sentence(const ScalingResults& results, ScalingMode mode);
// How far the model is off where a number of devices was measured too; empty where none was.
std::string model_error_sentence(const ScalingResults& results, ScalingMode mode);
// Where the prediction's compute time comes from: "the step measured on cpu:0".
std::string basis_text(const ScalingResults& results, const ScalingPrediction& prediction);

// Provenance of one point, line by line, for tooltips.
std::string describe(const ScalingResults& results, const ScalingPoint& point);
std::string describe(const ScalingResults& results, const ScalingPrediction& prediction);

// The split of a step that took `step_s`, so that the parts add up to at most that: of the hidden
// all-reduce what took its turn on a device's cores, not what ran beside the computing.
StepParts parts_of(const StepSplit& split, double step_s);

}  // namespace lab::ui
