#pragma once
// Events as JSON objects, one per line: the stable format for other programs.
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"

namespace lab::app {

// Returns an event's object without trailing newline; empty for events that only the window shows.
// Non-finite numbers become null, and so do rates and times of a training that is not `timed`.
std::optional<std::string> json_line(const Payload& payload, bool timed = true);

// Returns one {"type":"sample", ...} for each timed row of a profile.
std::vector<std::string> json_profile(const TrainingProfile& profile);

// An NVIDIA GPU and its reading; either may be null.
struct GpuRefs {
  const GpuFacts* facts = nullptr;
  const GpuTelemetry* reading = nullptr;
};

// {"type":"device", ...}. `telemetry` may be null. A GPU adds "gpu": {...}.
std::string json_device(const DeviceInfo& info, const DeviceTelemetry* telemetry,
                        const GpuRefs& gpu = {});

// One object per row: {"type":"comparison","system":"DGX-2, V100, FP32",...}.
std::vector<std::string> json_comparison(const ScalingComparison& comparison);

// {"type":"skip","what":"NVIDIA GPU","reason":"..."}. A GPU that the driver reports but the lab
// cannot compute on adds "gpu": {...}.
std::string json_skip(const std::string& what, const std::string& reason, const GpuRefs& gpu = {});

// Results of a job beyond its samples, reported in its last object.
struct JobSummary {
  void add(const Payload& payload);  // ignores unrelated payloads
  bool timed() const;                // false for a training on emulated GPUs

  std::vector<PeakSample> peaks;
  std::vector<CeilingsMeasured> ceilings;
  std::vector<TogetherSpeedup> speedups;
  std::vector<TransferFit> fits;
  std::vector<TransferTimeline> timelines;
  std::vector<TransferPayoff> payoffs;
  std::optional<double> others;  // as CoresShared::others
  std::optional<TrainingStarted> setup;
  std::optional<TrainingDone> training;
  std::optional<TrainingProfile> profile;  // the latest
  std::optional<StartMatmul> matmul;
  std::optional<StartTransfers> transfers;
  std::optional<StartScaling> scaling;
  std::optional<ScalingComparison> comparison;
};

// The last object of every command. Contains, where available: "others_share" of the cores' time,
// "peaks", "ceilings" (one per device, with "compute" and "bandwidth"), "together" (one per size),
// and "fits", "timelines" and "payoffs" of transfers. The ladder and transfers add what their
// samples depend on: "cache", "budget_s" per case and, of matmul, "seed". Training adds "test_acc",
// "images_per_s", "devices", "ranks", for several devices "split" and "hidden_share", "checkpoint"
// and "profile" (whole steps) if there is one, and the settings. Scaling adds the settings or, with
// --check, the errors of the comparison.
std::string json_done(double seconds, const JobSummary& summary = {});
std::string json_error(const std::string& code, const std::string& message);

}  // namespace lab::app
