#pragma once
// The result of an ended job in a few words, for its line in the log: of a stopped one, what it had
// measured. Empty if it has none.
#include <string>
#include <vector>

#include "ui/model/lesson_run.h"
#include "ui/model/matmul_results.h"
#include "ui/model/scaling_results.h"
#include "ui/model/tour_results.h"
#include "ui/model/training_run.h"
#include "ui/model/transfer_results.h"

namespace lab::ui {

// The first device's figures, and which figures of all devices are unsteady.
std::string result_of(const TourResults& results);
// "cpu:1 118 GFLOP/s, 30.2 GB/s (unsteady), ...": a line per device, if there are several.
std::vector<std::string> results_by_device(const TourResults& results);
// The fastest copy of the largest arrays; without copies, the fastest operation.
std::string result_of(const TransferResults& results);
// The best speed-up, or the fastest product, with the title of its kernel among `rungs`.
std::string result_of(const MatmulResults& results, const std::vector<RungInfo>& rungs);
// The most devices with cores of their own; of a prediction, the most devices.
std::string result_of(const ScalingResults& results);
std::string result_of(const TrainingRun& run);  // accuracy, otherwise loss, and speed
std::string result_of(const LessonRun& run);    // its conclusion, if it has one

// Whether the figures in that result are too unsteady to conclude from.
bool is_unsteady(const TourResults& results);
bool is_unsteady(const TransferResults& results);
bool is_unsteady(const MatmulResults& results);
bool is_unsteady(const ScalingResults& results);
bool is_unsteady(const LessonRun& run);

}  // namespace lab::ui
