#pragma once
// Where the time of training steps goes: the operations of one device, and the parts of a step of
// several devices.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/nn/network.h"
#include "compute/nn/op.h"
#include "compute/nn/op_work.h"

namespace lab {

// What a profile says beside its times.
struct ProfileSetup {
  Device device;
  int devices = 1;                   // that train together
  std::vector<Kernels> kernels;      // that take turns, in this order
  double peak_gflops = 0;            // of `device`; 0: not known
  Precision dtype = Precision::F32;  // of the factors of products, and of the peak
  bool momentum = false;             // the update reads and writes a velocity too
};

// Times every part of the training steps of one device and makes a table of the latest steps.
// Times are of wall clock, on the thread that drives the device. The first steps of each kind of
// kernels are warm-up, and so are those after the device's part of a batch has changed; the last,
// short batch of an epoch does not count. A step allocates nothing.
class StepProfile final : public nn::StepObserver {
 public:
  static constexpr std::int64_t kWarmup = 2;    // steps of each kind of kernels
  static constexpr std::int64_t kLatest = 500;  // steps of each kind that are kept

  // `network` must outlive the profile.
  StepProfile(const nn::Network& network, ProfileSetup setup);

  void begin_step(Kernels kernels);
  void done(StepPhase phase, std::size_t op, double seconds) override;
  // Of the step: how long it took as a whole, this device's images, whether the batch was whole.
  void end_step(double seconds, std::int64_t images, bool whole_batch);

  std::int64_t counted() const;  // steps that are in the table or were, of all kinds
  TrainingProfile result() const;

 private:
  // The latest steps with one kind of kernels, as rings.
  struct Track {
    Kernels kernels = Kernels::Lab;
    std::int64_t seen = 0;                         // steps, warm-up included
    std::vector<std::vector<double>> rows;         // [row][step]
    std::vector<double> steps, sums, unaccounted;  // [step]
    std::int64_t counted() const { return seen > kWarmup ? seen - kWarmup : 0; }
  };

  void add_operations();
  void add_phase(StepPhase phase, const char* layer, const char* kind);
  Track& track(Kernels kernels);
  ProfileTotal total_of(const Track& track) const;
  ProfileRow row_of(const Track& track, std::size_t row) const;
  nn::Work work(const ProfileRow& row, std::size_t op) const;

  static constexpr std::size_t kNoRow = static_cast<std::size_t>(-1);
  const nn::Network& network_;
  const ProfileSetup setup_;
  std::vector<ProfileRow> parts_;                // names, without times
  std::vector<std::size_t> ops_;                 // the operation of each part, where it is of one
  std::vector<std::size_t> forward_, backward_;  // part of each operation, or kNoRow
  std::array<std::size_t, kStepPhases.size()> phases_{};  // part of each phase, or kNoRow
  std::vector<Track> tracks_;
  std::vector<double> current_;  // seconds of each part in this step
  Kernels kernels_ = Kernels::Lab;
  std::int64_t images_ = 0;
};

// ---- Several devices

// Means over the devices. At least one device.
StepSplit split_of(std::span<const DeviceStep> devices);

// Each part's median over the steps; zeros without steps.
StepSplit median_split(std::span<const StepSplit> steps);

// The share of the all-reduce that ran behind a backward pass: 1 - exposed / all; 0 without any.
double hidden_share(const StepSplit& split);

}  // namespace lab
