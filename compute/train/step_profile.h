#pragma once
// Time of training steps: by operation on one device, and by part of a step on several devices.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/nn/network.h"
#include "compute/nn/op.h"
#include "compute/nn/op_work.h"

namespace lab {

// Facts that a profile reports besides its times.
struct ProfileSetup {
  Device device;
  int devices = 1;                   // that train together
  std::vector<Kernels> kernels;      // alternating from step to step, in this order
  double peak_gflops = 0;            // of `device`; 0: unknown
  Precision dtype = Precision::F32;  // of the operands of products, and of the peak
  bool momentum = false;             // the update also reads and writes a velocity
};

// The least work of a part of a training step; `op` is a position in the network's plan and counts
// in Forward and Backward only. The batch reads pixels as bytes and writes floats, the loss reads
// the logits and writes their gradient, the update reads gradients and reads and writes parameters,
// and with momentum a velocity. Sums have no work of their own.
nn::Work work_of(const nn::Network& network, StepPhase phase, std::size_t op, std::int64_t images,
                 bool momentum);

// Times every part of one device's training steps and tabulates the latest ones. Times are
// wall-clock times on the thread that drives the device; those of operations on a GPU are the
// GPU's. The first steps with each kind of kernels are warm-up, as are those after the device's
// share of a batch has changed; the short last batch of an epoch is not counted. A step allocates
// nothing.
class StepProfile final : public nn::StepObserver {
 public:
  static constexpr std::int64_t kWarmup = 2;    // steps per kind of kernels
  static constexpr std::int64_t kLatest = 500;  // steps kept per kind of kernels

  // `network` must outlive the profile.
  StepProfile(const nn::Network& network, ProfileSetup setup);

  void begin_step(Kernels kernels);
  void done(StepPhase phase, std::size_t op, double seconds) override;
  // Ends a step, given its total time, this device's images, and whether the batch was a full one.
  void end_step(double seconds, std::int64_t images, bool whole_batch);

  std::int64_t counted() const;  // steps counted so far, of all kinds
  TrainingProfile result() const;

 private:
  // Ring buffers of the latest steps with one kind of kernels.
  struct Track {
    Kernels kernels = Kernels::Lab;
    std::int64_t seen = 0;                         // steps, including warm-up
    std::vector<std::vector<double>> rows;         // [row][step]
    std::vector<double> steps, sums, unaccounted;  // [step]
    std::int64_t counted() const { return seen > kWarmup ? seen - kWarmup : 0; }
  };

  void add_operations();
  void add_phase(StepPhase phase, const char* layer, const char* kind);
  Track& track(Kernels kernels);
  ProfileTotal total_of(const Track& track) const;
  ProfileRow row_of(const Track& track, std::size_t row) const;

  static constexpr std::size_t kNoRow = static_cast<std::size_t>(-1);
  const nn::Network& network_;
  const ProfileSetup setup_;
  std::vector<ProfileRow> parts_;                // names, without times
  std::vector<std::size_t> ops_;                 // operation of each part that belongs to one
  std::vector<std::size_t> forward_, backward_;  // part of each operation, or kNoRow
  std::array<std::size_t, kStepPhases.size()> phases_{};  // part of each phase, or kNoRow
  std::vector<Track> tracks_;
  std::vector<double> current_;  // seconds of each part in this step
  Kernels kernels_ = Kernels::Lab;
  std::int64_t images_ = 0;
};

// ---- Several devices

// Mean over the devices; there must be at least one.
StepSplit split_of(std::span<const DeviceStep> devices);

// Median of each part over the steps; zeros without steps.
StepSplit median_split(std::span<const StepSplit> steps);

// Fraction of the all-reduce hidden behind backward: 1 - exposed / all; 0 without an all-reduce.
double hidden_share(const StepSplit& split);

}  // namespace lab
