#pragma once
// Where the time of a training step goes, part by part.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/dtype.h"
#include "compute/core/events/stats.h"

namespace lab {

// The phases of a training step, in their order. Forward and backward go through the network's
// operations, the others happen once a step.
enum class StepPhase { Batch, Forward, Loss, Backward, AllReduce, Update };
inline constexpr std::array kStepPhases = {StepPhase::Batch,     StepPhase::Forward,
                                           StepPhase::Loss,      StepPhase::Backward,
                                           StepPhase::AllReduce, StepPhase::Update};

const char* to_string(StepPhase phase);  // "batch", "forward", "loss", ..., "all_reduce", "update"

// One operation in one pass, or one of the phases that happen once a step.
struct ProfileRow {
  std::string layer = {};  // "resnet_block1.0.conv1", "relu after net.1", "loss"
  std::string kind = {};   // "convolution"
  std::string shape = {};  // of one image, channels first: "64x28x28 to 128x14x14"; may be empty
  StepPhase phase = StepPhase::Forward;
  Kernels kernels = Kernels::Lab;
  std::string method = {};  // the algorithm, "winograd4/gemm"; empty where there is but one
  std::int64_t flop = 0;    // of a step, as the direct algorithm counts them; 0: moves data alone
  // Compulsory traffic of a step: every array that is read or written, once. 0: not known.
  std::int64_t bytes = 0;
  Timing time = {};  // n == 0: not timed yet

  // What people call it: a layer that is but a number gets its kind, "net.0 convolution".
  std::string title() const;
  double gflops() const { return time.median_s > 0 ? flop_d() / time.median_s / 1e9 : 0; }
  // FLOP a byte; 0 where there are none.
  double intensity() const { return bytes > 0 ? flop_d() / static_cast<double>(bytes) : 0; }

 private:
  double flop_d() const { return static_cast<double>(flop); }
};

// Whole steps with one kind of kernels.
struct ProfileTotal {
  Kernels kernels = Kernels::Lab;
  Timing step;               // n: profiled steps; warmup: steps left out before them
  Timing rows;               // the sum of all rows in each step
  double unaccounted_s = 0;  // median over the steps of step - rows
  // Of the time of all these steps together, by phase; the rest of 1 is unaccounted.
  std::array<double, kStepPhases.size()> shares{};

  double share(StepPhase phase) const { return shares[static_cast<std::size_t>(phase)]; }
};

// A part of a step with each kind of kernels, in the order of the profile's totals.
using ProfileLine = std::vector<const ProfileRow*>;

// Rows stand in the order of the step; with two kinds of kernels all rows of the one come first.
struct TrainingProfile {
  Device device;    // the first of the training's
  int devices = 1;  // that train; the profile is the first one's
  std::string model;
  std::int64_t images = 0;  // of this device in a step
  int threads = 0;
  double peak_gflops = 0;            // measured before the training; 0: not known
  Precision dtype = Precision::F32;  // of the factors of products, and of the peak
  std::vector<ProfileTotal> totals;  // one for each kind of kernels
  std::vector<ProfileRow> rows;

  // Rows of one kind of kernels.
  std::size_t parts() const { return totals.empty() ? 0 : rows.size() / totals.size(); }
  // In the order of the step; valid as long as the profile is not changed.
  std::vector<ProfileLine> lines() const;

  double share_of_peak(const ProfileRow& row) const {
    return peak_gflops > 0 ? row.gflops() / peak_gflops : 0;
  }
};

}  // namespace lab
