#pragma once
// Where the devices of one training spend their time: a typical one of the recent steps, and the
// whole run as columns whose resolution halves as they fill up.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/core/events/event.h"
#include "ui/model/columns.h"

namespace lab::ui {

// Capacity of each column, in points; a full column drops every second point.
inline constexpr std::size_t kDevicePoints = 2048;

// Number of recent whole batches over which the times of a step are summarised, as in a profile.
inline constexpr std::size_t kTypicalSteps = 500;

// Parts of a device's step in seconds; they add up to the step.
struct StepParts {
  double compute_s = 0;
  double hidden_s = 0;   // all-reduce while another device still computes
  double wait_s = 0;     // idle until the last device's backward ends
  double exposed_s = 0;  // all-reduce after that
  double sum() const { return compute_s + hidden_s + wait_s + exposed_s; }
};

struct DeviceTrack {
  int rank = 0;
  Device device;
  bool idle = false;  // had no images of the latest whole batch
  // Means over those of the latest kTypicalSteps whole batches whose times are in the middle half,
  // so that they add up to about the median step.
  StepParts parts;
  // Averages over about 20 steps.
  double images = 0;  // of a full batch
  double share = 0;   // of the batch, 0..1
  // One value per entry of DeviceTracks::step(), over the whole run.
  Column64 shares;
  Column64 stacked;  // images/s of this device and all before it
};

class DeviceTracks {
 public:
  // `epoch` includes the fraction. Steps that name no devices, those of a single device, are
  // ignored; a different set of devices starts over.
  void add(const StepDone& step, double epoch);

  const std::vector<DeviceTrack>& all() const { return tracks_; }
  bool empty() const { return tracks_.empty(); }
  int ranks() const;  // number of ranks that the devices belong to

  const Column64& step() const { return step_; }
  const Column64& epoch() const { return epoch_; }
  const Column64& t_s() const { return t_s_; }
  const Column64& zeros() const { return zeros_; }  // baseline, as long as step()
  std::size_t steps_per_point() const { return steps_per_point_; }

  StepParts mean_parts() const;   // over the devices that take part in steps
  double longest_step_s() const;  // the largest sum of parts

 private:
  struct Averages {
    Ema images, share;
    double shown_images_per_s = 0;
  };
  bool fits(const std::vector<DeviceStep>& devices) const;
  void start(const std::vector<DeviceStep>& devices);
  void restart_if_others_idle(const std::vector<DeviceStep>& devices);
  void keep_times(const std::vector<DeviceStep>& devices);
  void take_typical_parts();
  void add_point(const StepDone& step, double epoch);
  void halve();

  std::vector<DeviceTrack> tracks_;
  std::vector<Averages> averages_;  // parallel to tracks_
  RateEma speed_;                   // images per second of all
  Column64 step_, epoch_, t_s_, zeros_;
  std::size_t steps_per_point_ = 1;
  std::size_t steps_ = 0;  // since the last point
  // Rings of the latest kTypicalSteps whole batches.
  Column64 longest_s_;                         // of the devices
  std::vector<std::vector<StepParts>> parts_;  // of each device
  std::size_t timed_ = 0;                      // whole batches so far
  std::int64_t most_images_ = 0;               // of a step
};

}  // namespace lab::ui
