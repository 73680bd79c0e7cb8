#pragma once
// One scaling experiment: measurements per device count, and predictions for larger ones.
#include <array>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "ui/model/columns.h"
#include "ui/model/timeline_by_lane.h"

namespace lab::ui {

// The device used where the experiment runs on a single one.
Device first_device(const StartTraining& training);

// Points of one mode, by device count; the last one sent per count.
struct ScalingCurve {
  std::vector<ScalingPoint> points;
  Column64 devices;
  // Low and high: at p90 and p10 of its steps; if the steps of one device are unsteady, also at
  // their p10 and p90.
  Column64 speedup, speedup_low, speedup_high;
  Column64 efficiency, efficiency_low, efficiency_high;

  const ScalingPoint* at(int devices) const;  // null if that count was not measured
  // Whether the median step of points[i], or that of one device, is not known within 5 %, or its
  // rounds differ by more than 10 %. Some slow steps do not change a median.
  bool is_unsteady(std::size_t i) const {
    const ScalingPoint* const one = at(1);
    return points[i].step.unstable || (one != nullptr && one->step.unstable);
  }
};

struct PredictedCurve {
  std::vector<ScalingPrediction> points;
  Column64 devices;
  // Low and high: if compute takes as long as in the measured steps of one device at p90 and p10.
  // Equal where the prediction does not rest on measured steps.
  Column64 speedup, speedup_low, speedup_high;
  Column64 efficiency, efficiency_low, efficiency_high;

  const ScalingPrediction* at(int devices) const;
};

struct ScalingResults {
  StartScaling request;
  double started_t_s = 0;
  std::vector<Skipped> skipped;
  // The request of the measured points. Differs from `request` only if that asked for a prediction
  // alone, in which case the points are those of the previous experiment.
  StartScaling measured_with;
  double measured_t_s = 0;      // start of that experiment; negative: of an earlier session
  std::time_t measured_at = 0;  // wall clock, when that experiment ended; 0: it has not
  bool earlier = false;         // that experiment was in an earlier session
  // As CoresShared::others, while the points were measured; 0 if not notable.
  double others = 0;

  bool empty() const;
  bool has(ScalingMode mode) const;  // any result of that mode
  bool has_measured() const;         // for any mode, as the next
  bool has_prediction() const;       // shown or withheld
  const ScalingCurve& measured(ScalingMode mode) const;
  // Over the requested link, for devices that may not exist on this machine.
  const PredictedCurve& predicted(ScalingMode mode) const;
  // Why the predictions are not shown: the model misses the measured runs of that mode. Empty: they
  // are shown.
  std::string withheld(ScalingMode mode) const;
  // The same model for this machine, where each point also has its measured step.
  const PredictedCurve& checked(ScalingMode mode) const;
  // The recorded step with `devices` devices; null: none is recorded.
  const TimelineByLane* step(ScalingMode mode, int devices) const;
  void add(const ScalingPoint& point);
  void add(const ScalingPrediction& prediction);
  void add(const StepTimeline& step);  // in place of one of the same device count and batch
  // Takes over the points of an earlier experiment with the same model, data, batch and first
  // device, so that a prediction alone can be compared with them.
  void keep_measured(const ScalingResults& before);
  // Median step time of that first device with that model, data and batch; empty: not measured.
  std::optional<double> one_device_step_s(const StartTraining& training) const;
  // The part of it that does not depend on the batch, as fitted; 0 if there is no fit.
  double fixed_step_s() const;
  // The measured point on which predictions rest; null: they rest on another time.
  const ScalingPoint* basis() const;

 private:
  const ScalingPoint* one_device() const;  // null: not measured

  std::array<ScalingCurve, 2> measured_;  // indexed by ScalingMode, as are the others
  std::array<PredictedCurve, 2> predicted_, checked_;
  std::array<std::string, 2> withheld_;
  std::vector<std::shared_ptr<const TimelineByLane>> steps_;  // by device count and batch
};

}  // namespace lab::ui
