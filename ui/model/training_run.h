#pragma once
// One training as its page shows it: curves, and where a step spends its time.
#include <algorithm>
#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/core/events/training_profile.h"
#include "ui/model/columns.h"
#include "ui/model/device_tracks.h"
#include "ui/model/timeline_by_lane.h"

namespace lab::ui {

// Rows of a layer for one kind of kernels. Null: absent, or not timed yet.
struct LayerSide {
  const ProfileRow* forward = nullptr;
  const ProfileRow* backward = nullptr;
  const ProfileRow* once = nullptr;  // for work done once per step, instead of the two above
  double seconds() const;
};

struct ProfileLayer {
  const ProfileRow* name = nullptr;  // one of its rows, for layer, kind and shape
  std::vector<LayerSide> sides;      // parallel to the profile's totals
  double seconds() const;            // of the first side that has a time
};

enum class LayerOrder { Longest, Network };

// Work done once per step forms a layer of its own, at its place in the step.
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

// Value of `line` for the kind of kernels with index `side`; NaN if there is none, as for Layer and
// Method.
double value_of(const TrainingProfile& profile, const ProfileLine& line, ProfileKey key,
                std::size_t side = 0);

// Lines sorted by `key` for the kind of kernels with index `side`; Layer sorts by the place in the
// step. Lines without a value are last.
std::vector<ProfileLine> lines_of(const TrainingProfile& profile, ProfileKey key, std::size_t side,
                                  bool descending);

class TrainingRun;

// A setting in which runs differ.
struct DifferingSetting {
  std::string key;                  // of the field: "lr"
  const char* label = "";           // of the field, in English: "Learning rate"
  std::vector<std::string> values;  // of each run: "lr 0.3"

  bool operator==(const DifferingSetting& other) const = default;
};

// The settings in which the runs differ, the usual ones first; none for a single run.
std::vector<DifferingSetting> settings_that_differ(const std::vector<const TrainingRun*>& runs);

// Those settings, computed once per list of runs.
class SettingDifferences {
 public:
  // Returns settings_that_differ(runs), which is computed again only if the list has changed or a
  // run has started: afterwards a run keeps its settings.
  const std::vector<DifferingSetting>& of(const std::vector<const TrainingRun*>& runs);

 private:
  std::vector<std::pair<JobId, bool>> runs_;  // whether each has started
  std::vector<DifferingSetting> settings_;
};

// --- run ------------------------------------------------------------------------------------
inline constexpr std::size_t kSpeedSteps = 20;  // about as many as the average covers

struct StepColumns {
  Column64 step, epoch, t_s;  // three choices of x; epoch includes the fraction
  Column64 loss;
  Column64 accuracy, accuracy_smooth;  // of the batch, before the update
  // The last batch of an epoch may be smaller: it counts less in averages, and has no speed (NaN).
  Column64 images, weight;  // weight: of its images in a whole batch
  Column64 images_per_s, images_per_s_smooth;
  Column64 images_per_s_low, images_per_s_high;  // p10 and p90 of the latest kSpeedSteps
  Column64 lr;                                   // used for the step's update
  std::size_t size() const { return step.size(); }
};

struct EpochColumns {
  Column64 step, epoch, t_s;  // at the end of the epoch
  Column64 train_loss, train_acc;
  Column64 test_acc;  // NaN: not evaluated
  Column64 seconds, images_per_s;
  std::size_t size() const { return epoch.size(); }
};

// "learning rate 0.9 → 0.3"
std::string change_text(const TrainingChanged& change);

class TrainingRun {
 public:
  explicit TrainingRun(JobId id, StartTraining request);

  JobId id() const { return id_; }
  // Whether it is from an earlier session: its timeline, layers and insight are not kept.
  bool restored() const { return id_ < 0; }
  // When a restored run ended; 0: unknown.
  std::time_t ended_at() const { return ended_at_; }
  void set_ended_at(std::time_t when) { ended_at_ = when; }
  // The lowest number from 0 that no other run had when the model got this one. The curves' look
  // depends on it.
  int slot() const { return slot_; }
  void set_slot(int slot) { slot_ = slot; }
  // Default name until the user renames the run: "LeNet, batch 256, lr 0.9, 2 devices".
  const std::string& name() const { return name_; }
  // Whether the default name states the run's value of the setting with this key.
  bool is_in_name(std::string_view key) const;
  bool synthetic() const { return synthetic_; }
  const std::optional<TrainingStarted>& started() const { return started_; }
  const StartTraining& request() const { return request_; }
  // False if its times are meaningless because a device is emulated.
  bool timed() const { return std::ranges::all_of(request_.devices, is_timed); }
  const StepColumns& steps() const { return steps_; }
  // The median time of the latest kTypicalSteps whole batches, as profiled if it is; NaN before the
  // first.
  double median_step_s() const;
  // For a restored run, whose profile is not kept.
  void set_median_step_s(double median_s) { median_step_s_ = median_s; }
  double typical_images_per_s() const;  // of a step that takes as long
  // The mean of all steps, where interruptions made it notably lower. Of a run that has ended.
  std::optional<double> lower_mean_images_per_s() const;
  double others() const { return others_; }  // as CoresShared::others; 0 if not notable
  // Whether other programs make its speed unfit to compare. Of a timed run that has ended.
  bool is_speed_disturbed() const;
  // "31.3 k", or with the mean that is lower: "31.3 k, mean 22.1 k". Of a timed run that has ended.
  std::string speed_text() const;
  // "stopped at epoch 9.1 of 40"; empty if it has not ended, or as planned.
  std::string stopped_text() const;
  double highest_images_per_s() const { return highest_images_per_s_; }  // of the averages
  const DeviceTracks& devices() const { return devices_; }  // empty if one device trains
  const EpochColumns& epochs() const { return epochs_; }
  const std::optional<Predictions>& predictions() const { return predictions_; }
  const std::optional<Confusion>& confusion() const { return confusion_; }
  const std::optional<Insight>& insight() const { return insight_; }  // the latest
  const std::optional<TrainingProfile>& profile() const { return profile_; }
  // The step at which the loss left all bounds, unless it has become better than a guess since. A
  // loss that guesses has the logarithm of the number of classes.
  std::optional<std::int64_t> diverged_at() const { return diverged_at_; }
  // Settings changed while it ran, oldest first.
  const std::vector<TrainingChanged>& changes() const { return changes_; }
  // The latest recorded step; null if none was recorded.
  const std::shared_ptr<const TimelineByLane>& timeline() const { return timeline_; }
  const std::optional<TrainingDone>& done() const { return done_; }
  const std::vector<std::string>& class_names() const;

  void add(const TrainingStarted& started);
  // Saves copies while that many steps arrive.
  void reserve(std::int64_t steps);
  void add(const StepDone& step);
  void add(const EpochDone& epoch);
  void add(const Predictions& predictions) { predictions_ = predictions; }
  void add(const Confusion& confusion) { confusion_ = confusion; }
  void add(const Insight& insight) { insight_ = insight; }
  void add(const TrainingProfile& profile) { profile_ = profile; }
  void add(const TrainingChanged& change);
  void add(const StepTimeline& timeline) {
    timeline_ = std::make_shared<const TimelineByLane>(timeline);
  }
  void add(const TrainingDone& done) { done_ = done; }
  void add(const CoresShared& shared) { others_ = shared.others; }

 private:
  double images_of(const StepDone& step) const;
  void add_speed_range();
  void set_name(const StartTraining& request, std::optional<double> lr, std::size_t devices,
                int ranks, const std::string& libraries);

  JobId id_;
  int slot_ = -1;  // none yet
  std::time_t ended_at_ = 0;
  StartTraining request_;
  std::string name_;
  std::vector<std::string_view> named_settings_;  // keys of the settings that name_ states
  bool synthetic_;
  std::optional<TrainingStarted> started_;
  StepColumns steps_;
  DeviceTracks devices_;
  EpochColumns epochs_;
  Ema accuracy_ema_;
  RateEma speed_ema_;
  double most_images_ = 0;  // of a step
  double highest_images_per_s_ = 0;
  std::optional<Predictions> predictions_;
  std::optional<Confusion> confusion_;
  std::optional<Insight> insight_;
  std::optional<TrainingProfile> profile_;
  std::vector<TrainingChanged> changes_;
  std::optional<std::int64_t> diverged_at_;
  std::shared_ptr<const TimelineByLane> timeline_;
  std::optional<TrainingDone> done_;
  std::optional<double> median_step_s_;  // of a restored run
  double others_ = 0;
};

}  // namespace lab::ui
