#pragma once
// The result of a finished job in a few words, for its line in the log. Empty if it has none.
#include <string>

#include "ui/model/matmul_results.h"
#include "ui/model/scaling_results.h"
#include "ui/model/tour_results.h"
#include "ui/model/training_run.h"
#include "ui/model/transfer_results.h"

namespace lab::ui {

std::string result_of(const TourResults& results);      // the first device's figures
std::string result_of(const TransferResults& results);  // the fastest copy of the largest arrays
std::string result_of(const MatmulResults& results);    // the best speed-up, or the fastest product
std::string result_of(const ScalingResults& results);   // the most devices with cores of their own
std::string result_of(const TrainingRun& run);          // accuracy and speed

}  // namespace lab::ui
