#include "ui/model/device_tracks.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace lab::ui {
namespace {

// Keeps the later value of each pair, so that a point represents the steps up to it.
void keep_every_second(Column64& column) {
  for (std::size_t i = 1; i < column.size(); i += 2) column[i / 2] = column[i];
  column.resize(column.size() / 2);
}

}  // namespace

bool DeviceTracks::fits(const std::vector<DeviceStep>& devices) const {
  return std::equal(devices.begin(), devices.end(), tracks_.begin(), tracks_.end(),
                    [](const DeviceStep& step, const DeviceTrack& track) {
                      return step.rank == track.rank && step.device == track.device;
                    });
}

void DeviceTracks::start(const std::vector<DeviceStep>& devices) {
  *this = DeviceTracks{};
  for (const DeviceStep& device : devices) {
    DeviceTrack& track = tracks_.emplace_back();
    track.rank = device.rank;
    track.device = device.device;
  }
  averages_.resize(devices.size());
  parts_.resize(devices.size());
}

// Another division: times and images so far are of steps on other devices.
void DeviceTracks::restart_if_others_idle(const std::vector<DeviceStep>& devices) {
  bool changed = false;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const bool idle = devices[i].images == 0;
    changed = changed || idle != tracks_[i].idle;
    tracks_[i].idle = idle;
  }
  if (!changed) return;
  averages_.assign(averages_.size(), Averages());
  timed_ = 0;
  longest_s_.clear();
  for (std::vector<StepParts>& ring : parts_) ring.clear();
}

void DeviceTracks::keep_times(const std::vector<DeviceStep>& devices) {
  const std::size_t slot = timed_++ % kTypicalSteps;
  if (slot == longest_s_.size()) {
    longest_s_.emplace_back();
    for (std::vector<StepParts>& ring : parts_) ring.emplace_back();
  }
  longest_s_[slot] = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceStep& device = devices[i];
    const double exposed_s = std::min(device.exposed_s, device.all_reduce_s);
    parts_[i][slot] = {.compute_s = device.compute_s,
                       .hidden_s = device.all_reduce_s - exposed_s,
                       .wait_s = device.wait_s,
                       .exposed_s = exposed_s};
    longest_s_[slot] = std::max(longest_s_[slot], parts_[i][slot].sum());
  }
  constexpr std::size_t kAlways = 64, kEvery = 8;
  if (timed_ <= kAlways || timed_ % kEvery == 0) take_typical_parts();
}

void DeviceTracks::take_typical_parts() {
  std::vector<std::size_t> order(longest_s_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t slot) { return longest_s_[slot]; });
  const auto ends = static_cast<std::ptrdiff_t>(order.size() / 4);
  const std::span<const std::size_t> middle(order.begin() + ends, order.end() - ends);
  const auto n = static_cast<double>(middle.size());
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    StepParts mean;
    for (const std::size_t slot : middle) {
      const StepParts& parts = parts_[i][slot];
      mean.compute_s += parts.compute_s / n;
      mean.hidden_s += parts.hidden_s / n;
      mean.wait_s += parts.wait_s / n;
      mean.exposed_s += parts.exposed_s / n;
    }
    tracks_[i].parts = mean;
  }
}

void DeviceTracks::add(const StepDone& step, double epoch) {
  if (step.devices.empty()) return;
  if (!fits(step.devices)) start(step.devices);
  std::int64_t images = 0;
  for (const DeviceStep& device : step.devices) images += device.images;
  most_images_ = std::max(most_images_, images);
  // The last batch of an epoch may be smaller; its times and its division say nothing.
  const bool whole = images == most_images_;
  const double images_per_s = speed_.add(whole ? step.images_per_s : kNoValue);
  if (whole) restart_if_others_idle(step.devices);
  if (whole) keep_times(step.devices);
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const DeviceStep& device = step.devices[i];
    DeviceTrack& track = tracks_[i];
    Averages& mean = averages_[i];
    const double share =
        images > 0 ? static_cast<double>(device.images) / static_cast<double>(images) : 0;
    if (whole) track.images = mean.images.add(static_cast<double>(device.images));
    track.share = mean.share.add(share);
    mean.shown_images_per_s = images_per_s * track.share;
  }
  if (++steps_ < steps_per_point_) return;
  steps_ = 0;
  add_point(step, epoch);
}

void DeviceTracks::add_point(const StepDone& step, double epoch) {
  step_.push_back(static_cast<double>(step.step));
  epoch_.push_back(epoch);
  t_s_.push_back(step.t_s);
  zeros_.push_back(0);
  double sum = 0;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    tracks_[i].shares.push_back(tracks_[i].share);
    tracks_[i].stacked.push_back(sum += averages_[i].shown_images_per_s);
  }
  if (step_.size() == kDevicePoints) halve();
}

void DeviceTracks::halve() {
  for (Column64* column : {&step_, &epoch_, &t_s_, &zeros_}) keep_every_second(*column);
  for (DeviceTrack& track : tracks_) {
    keep_every_second(track.shares);
    keep_every_second(track.stacked);
  }
  steps_per_point_ *= 2;
}

int DeviceTracks::ranks() const {
  int last = -1;
  for (const DeviceTrack& track : tracks_) last = std::max(last, track.rank);
  return last + 1;
}

StepParts DeviceTracks::mean_parts() const {
  const auto takes_part = [](const DeviceTrack& track) {
    return !track.idle || track.parts.sum() > 0;
  };
  StepParts mean;
  const auto n = static_cast<double>(std::ranges::count_if(tracks_, takes_part));
  for (const DeviceTrack& track : tracks_) {
    if (!takes_part(track)) continue;
    mean.compute_s += track.parts.compute_s / n;
    mean.hidden_s += track.parts.hidden_s / n;
    mean.wait_s += track.parts.wait_s / n;
    mean.exposed_s += track.parts.exposed_s / n;
  }
  return mean;
}

double DeviceTracks::longest_step_s() const {
  double longest = 0;
  for (const DeviceTrack& track : tracks_) longest = std::max(longest, track.parts.sum());
  return longest;
}

}  // namespace lab::ui
