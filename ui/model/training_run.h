#pragma once
// One training as its page shows it: curves, and where a step spends its time.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/core/events/training_profile.h"
#include "ui/model/columns.h"
#include "ui/model/device_tracks.h"

namespace lab::ui {

// A layer with one kind of kernels. Null: that part is not there, or was not timed yet.
struct LayerSide {
  const ProfileRow* forward = nullptr;
  const ProfileRow* backward = nullptr;
  const ProfileRow* once = nullptr;  // of what happens once a step, instead of the two
  double seconds() const;
};

struct ProfileLayer {
  const ProfileRow* name = nullptr;  // one of its rows: layer, kind and shape are those
  std::vector<LayerSide> sides;      // as the profile's totals
  double seconds() const;            // of the first side, else of the next
};

enum class LayerOrder { Longest, Network };

// What happens once a step stands as a layer of its own, at its place in the step.
std::vector<ProfileLayer> layers_of(const TrainingProfile& profile, LayerOrder order);

enum class ProfileKey {
  Layer,
  Pass,
  Time,
  Ratio,
  P10,
  P90,
  Gflops,
  Share,
  Bytes,
  Intensity,
  Method
};

// The value of `line` with kind of kernels number `side`; Layer and Method have none. NaN: none.
double value_of(const TrainingProfile& profile, const ProfileLine& line, ProfileKey key,
                std::size_t side = 0);

// Sorted by `key` of kind of kernels number `side`; Layer sorts by the place in the step. Lines
// without a value come last.
std::vector<ProfileLine> lines_of(const TrainingProfile& profile, ProfileKey key, std::size_t side,
                                  bool descending);

// --- run ------------------------------------------------------------------------------------
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
