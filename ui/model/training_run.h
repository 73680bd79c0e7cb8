#pragma once
// One training: every step and epoch, column by column, and what the network sees.
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "ui/model/columns.h"
#include "ui/model/device_tracks.h"

namespace lab::ui {

struct StepColumns {
  Column64 step, epoch, t_s;  // three choices of x; epoch counts fractions
  Column64 loss, loss_smooth;
  Column64 accuracy, accuracy_smooth;  // of the batch, before the update
  Column64 images_per_s, images_per_s_smooth;
  Column64 lr;  // of the step's update
  std::size_t size() const { return step.size(); }
};

struct EpochColumns {
  Column64 step, epoch, t_s;  // where the epoch ended
  Column64 train_loss, train_acc;
  Column64 test_acc;  // NaN: not evaluated
  Column64 seconds, images_per_s;
  std::size_t size() const { return epoch.size(); }
};

class TrainingRun {
 public:
  explicit TrainingRun(JobId id, StartTraining request);

  JobId id() const { return id_; }
  // "lenet, batch 256, lr 0.9, 2 devices": what the run is called until someone renames it.
  const std::string& name() const { return name_; }
  bool synthetic() const { return synthetic_; }
  const std::optional<TrainingStarted>& started() const { return started_; }
  const StartTraining& request() const { return request_; }
  const StepColumns& steps() const { return steps_; }
  const DeviceTracks& devices() const { return devices_; }  // empty when one device trains
  const EpochColumns& epochs() const { return epochs_; }
  const std::optional<Predictions>& predictions() const { return predictions_; }
  const std::optional<Confusion>& confusion() const { return confusion_; }
  const std::optional<TrainingProfile>& profile() const { return profile_; }
  const std::optional<TrainingDone>& done() const { return done_; }
  // Of the whole run's all-reduce time, the part behind backward; NaN where there was none.
  double hidden_share() const;
  const std::vector<std::string>& class_names() const;

  void add(const TrainingStarted& started);
  void add(const StepDone& step);
  void add(const EpochDone& epoch);
  void add(const Predictions& predictions) { predictions_ = predictions; }
  void add(const Confusion& confusion) { confusion_ = confusion; }
  void add(const TrainingProfile& profile) { profile_ = profile; }
  void add(const TrainingDone& done) { done_ = done; }

 private:
  JobId id_;
  StartTraining request_;
  std::string name_;
  bool synthetic_;
  std::optional<TrainingStarted> started_;
  StepColumns steps_;
  DeviceTracks devices_;
  EpochColumns epochs_;
  Ema loss_ema_, accuracy_ema_, speed_ema_;
  std::optional<Predictions> predictions_;
  std::optional<Confusion> confusion_;
  std::optional<TrainingProfile> profile_;
  std::optional<TrainingDone> done_;
};

}  // namespace lab::ui
