#pragma once
// One scaling experiment: what each number of devices measured, and what more of them would do.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "ui/model/columns.h"

namespace lab::ui {

// The device that a single one of the experiment's is.
Device first_device(const StartTraining& training);

// Points of one mode, by number of devices, one a number: the last one sent.
struct ScalingCurve {
  std::vector<ScalingPoint> points;
  Column64 devices;
  Column64 speedup, speedup_low, speedup_high;  // the step's p90 and p10 give low and high
  Column64 efficiency, efficiency_low, efficiency_high;
  Column64 test_acc;  // NaN: not asked for

  const ScalingPoint* at(int devices) const;  // null when that number was not measured
};

struct PredictedCurve {
  std::vector<ScalingPrediction> points;
  Column64 devices, speedup, efficiency;

  const ScalingPrediction* at(int devices) const;
};

struct ScalingResults {
  StartScaling request;
  double started_t_s = 0;
  std::vector<Skipped> skipped;
  // What the measured points were asked for with; the same as `request` unless a prediction alone
  // was asked for and the points are those of the experiment before.
  StartScaling measured_with;

  bool empty() const;
  bool has(ScalingMode mode) const;  // anything of that mode
  bool has_prediction() const;       // of any mode
  const ScalingCurve& measured(ScalingMode mode) const;
  // Of devices that may not be here, over the link asked for.
  const PredictedCurve& predicted(ScalingMode mode) const;
  // The same model for this machine, where each point has its measured step beside it.
  const PredictedCurve& checked(ScalingMode mode) const;
  void add(const ScalingPoint& point);
  void add(const ScalingPrediction& prediction);
  // Takes over the points of an earlier experiment when they are of the same model, data, batch
  // and first device, so that a prediction alone can be held against them.
  void keep_measured(const ScalingResults& earlier);
  // The median step of that first device with that model, data and batch; empty: not measured.
  std::optional<double> one_device_step_s(const StartTraining& training) const;

 private:
  std::array<ScalingCurve, 2> measured_;  // as ScalingMode, like the others
  std::array<PredictedCurve, 2> predicted_, checked_;
};

}  // namespace lab::ui
