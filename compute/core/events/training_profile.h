#pragma once
// Profile of a training step: time per operation and phase.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/dtype.h"
#include "compute/core/events/stats.h"

namespace lab {

// Phases of a training step, in order. Forward and backward consist of the network's operations;
// the other phases occur once per step.
enum class StepPhase { Batch, Forward, Loss, Backward, AllReduce, Update };
inline constexpr std::array kStepPhases = {StepPhase::Batch,     StepPhase::Forward,
                                           StepPhase::Loss,      StepPhase::Backward,
                                           StepPhase::AllReduce, StepPhase::Update};

const char* to_string(StepPhase phase);  // "batch", "forward", "loss", ..., "all_reduce", "update"

// One operation in one pass, or one of the phases that occur once per step.
struct ProfileRow {
  std::string layer = {};  // "resnet_block1.0.conv1", "relu after net.1", "loss"
  std::string kind = {};   // "convolution"
  std::string shape = {};  // per image, channels first: "64x28x28 to 128x14x14"; may be empty
  StepPhase phase = StepPhase::Forward;
  Kernels kernels = Kernels::Lab;
  std::string method = {};  // algorithm, "winograd4/gemm"; empty if there is only one
  std::int64_t flop = 0;    // per step, of the direct algorithm; 0: only moves data
  // Compulsory traffic per step: every array that is read or written, counted once. 0: unknown.
  std::int64_t bytes = 0;
  Timing time = {};  // n == 0: not yet timed

  // Display name: a layer that is only numbered is followed by its kind, "net.0 convolution".
  std::string title() const;
  double gflops() const { return time.median_s > 0 ? flop_d() / time.median_s / 1e9 : 0; }
  // FLOP per byte; 0 if bytes is 0.
  double intensity() const { return bytes > 0 ? flop_d() / static_cast<double>(bytes) : 0; }

 private:
  double flop_d() const { return static_cast<double>(flop); }
};

// Totals over whole steps with one kernel set.
struct ProfileTotal {
  Kernels kernels = Kernels::Lab;
  Timing step;               // n: profiled steps; warmup: unprofiled steps before them
  Timing rows;               // sum of all rows per step
  double unaccounted_s = 0;  // median over the steps of (step - rows)
  // Shares of the total time of these steps, by phase; the remainder to 1 is unaccounted.
  std::array<double, kStepPhases.size()> shares{};

  double share(StepPhase phase) const { return shares[static_cast<std::size_t>(phase)]; }
};

// The same part of a step with each kernel set, in the order of the profile's totals.
using ProfileLine = std::vector<const ProfileRow*>;

// Rows are in the order of the step; with two kernel sets, all rows of the first set come before
// those of the second.
struct TrainingProfile {
  Device device;    // first device of the training
  int devices = 1;  // devices in the training; only the first is profiled
  std::string model;
  std::int64_t images = 0;           // per step on this device
  int threads = 0;                   // 0: a whole GPU
  double peak_gflops = 0;            // measured before training; 0: unknown
  Precision dtype = Precision::F32;  // operand type of the products and of the peak
  std::vector<ProfileTotal> totals;  // one per kernel set
  std::vector<ProfileRow> rows;

  // Number of rows per kernel set.
  std::size_t parts() const { return totals.empty() ? 0 : rows.size() / totals.size(); }
  // Returns the lines in the order of the step; invalidated by changes to the profile.
  std::vector<ProfileLine> lines() const;

  double share_of_peak(const ProfileRow& row) const {
    return peak_gflops > 0 ? row.gflops() / peak_gflops : 0;
  }
};

}  // namespace lab
