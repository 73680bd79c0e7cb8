#pragma once
// How long the training of a form would take, from speeds measured on this machine.
#include <deque>
#include <optional>
#include <vector>

#include "ui/model/forms/forms.h"
#include "ui/model/training_run.h"

namespace lab::ui {

// Whether two trainings make the same steps on the same devices, so that they are equally fast.
bool equally_fast(const StartTraining& a, const StartTraining& b);

// How many images the training of the request has.
std::int64_t training_images(const StartTraining& request);

struct TrainingEstimate {
  double seconds = 0;  // of all steps and evaluations
  // The same at the speeds of the fastest and the slowest tenth of a probe's steps; both are
  // `seconds` after a training.
  double least_s = 0, most_s = 0;
  bool probed = false;   // from a probe; otherwise from an earlier training
  bool similar = false;  // which had other settings, or was in an earlier session
  double images_per_s = 0;
};

// From the newest training of this session that is equally fast, otherwise from a probe, otherwise
// from the newest training of the same network on the same kind of data and the same devices whose
// batch differs by a factor of at most 1.5; empty if there is none.
// `request` is the form's, by to_command().
std::optional<TrainingEstimate> estimate_of(const StartTraining& request,
                                            const std::deque<TrainingRun>& runs,
                                            const std::vector<TrainingRate>& rates);

// The same at a typical speed, where nothing was measured. `device`: the first of the request.
double typical_training_s(const StartTraining& request, const DeviceInfo& device);

// Changes epochs, then the width of resnet18, then the number of synthetic images until the
// training fits into `seconds`. Returns the seconds that it then takes: more than `seconds` if
// nothing can be reduced any more. A change of width makes the estimate rough.
// Reduced numbers of images are multiples of 1000.
double fit_into(double seconds, const TrainingEstimate& estimate, StartTraining& request);

}  // namespace lab::ui
