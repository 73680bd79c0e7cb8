#pragma once
// Trains on 1, 2, ... devices in interleaved rounds and records the step times.
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/data/dataset.h"
#include "compute/experiments/scaling/scaling_model.h"
#include "compute/run/run_context.h"
#include "compute/train/step_profile.h"
#include "compute/train/training_job.h"

namespace lab {

// Timed steps of all runs with the same device count and batch.
class StepTimes {
 public:
  void begin_round() { rounds_.push_back(seconds_.size()); }
  void add(const StepDone& step);
  std::size_t size() const { return seconds_.size(); }
  // Unstable if the median's spread exceeds 5 %, or if the medians of the rounds differ by more
  // than twice that, p10 to p90: steps of a round share the state of the machine.
  Timing timing() const;
  // Medians over the steps of the means over the devices.
  StepSplit split() const { return median_split(splits_); }

 private:
  bool rounds_differ() const;

  std::vector<double> seconds_;
  std::vector<std::size_t> rounds_;  // the first step of each
  std::vector<StepSplit> splits_;
};

class ScalingRuns {
 public:
  // `request` must be complete: devices and counts are set, and counts ascend from 1.
  // `small_batches` are also run on one device, for the model. All arguments must outlive the
  // object.
  ScalingRuns(const StartScaling& request, const Dataset& data,
              std::vector<std::int64_t> small_batches, RunContext& ctx);

  // Emits each point when it is first known and again when it is refined, and before it the
  // timeline of a step after the timed ones, again if that of a later round is nearer to the
  // median. Throws as run_training() does.
  void run();

  std::vector<ScalingPoint> points() const;
  // Step times of one device by ascending batch, for the model.
  std::vector<ComputePoint> one_device() const;

 private:
  struct Key {  // shared by runs whose steps are pooled
    int devices = 1;
    std::int64_t batch = 0;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  Key key(ScalingMode mode, int devices) const;
  std::vector<Key> all_keys() const;
  double work(const Key& key, std::int64_t steps) const;
  void train(const StartTraining& training, const TrainingSink& sink);
  bool has_point(const Key& key) const;
  // Whether a run in that round has one more step, which is recorded.
  bool records(const Key& key, std::int64_t round) const;
  std::int64_t steps_of(const Key& key, std::int64_t round) const;
  void time_steps(const Key& key, std::int64_t round);
  void keep_recorded(const Key& key, StepTimeline step);
  void measure_accuracy(int devices);
  void emit_points(const Key& key);
  std::optional<ScalingPoint> point(ScalingMode mode, int devices) const;
  std::span<const Device> first_devices(int count) const;
  StartTraining part_of_request(const Key& key) const;
  // The part of the progress bar for `work`; `what` prefixes its text.
  RunContext::Part next_part(double work, const std::string& what);

  const StartScaling& request_;
  const Dataset& data_;
  const std::vector<std::int64_t> small_batches_;
  RunContext& ctx_;
  std::map<Key, StepTimes> times_;
  std::map<Key, double> recorded_s_;  // of the step whose timeline was emitted last
  std::map<int, double> accuracies_;  // by device count, strong scaling
  double total_work_ = 0, done_work_ = 0;
};

}  // namespace lab
