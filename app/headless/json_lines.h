#pragma once
// Events as JSON objects, one a line: the contract that other programs read.
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"

namespace lab::app {

// The object of an event, without a line end; empty for events that are for the window alone.
// A number that is not finite becomes null.
std::optional<std::string> json_line(const Payload& payload);

// One {"type":"sample", ...} for each row of a profile that was timed.
std::vector<std::string> json_profile(const TrainingProfile& profile);

// An NVIDIA GPU and what it does; either may be null.
struct GpuOf {
  const GpuFacts* facts = nullptr;
  const GpuTelemetry* reading = nullptr;
};

// {"type":"device", ...}. `telemetry` may be null. A GPU adds "gpu": {...}.
std::string json_device(const DeviceInfo& info, const DeviceTelemetry* telemetry,
                        const GpuOf& gpu = {});

// {"type":"skip","what":"NVIDIA GPU","reason":"..."}. A GPU that the driver shows although the lab
// cannot compute on it adds "gpu": {...}.
std::string json_skip(const std::string& what, const std::string& reason, const GpuOf& gpu = {});

// What a job found beside its cases; its last object tells it.
struct JobSummary {
  void add(const Payload& payload);  // keeps what belongs here, passes over the rest

  std::vector<PeakSample> peaks;
  std::vector<CeilingsMeasured> ceilings;
  std::vector<TransferFit> fits;
  std::vector<TransferTimeline> timelines;
  std::vector<TransferPayoff> payoffs;
  std::optional<TrainingStarted> setup;
  std::optional<TrainingDone> training;
  std::optional<TrainingProfile> profile;  // the latest
  std::optional<StartScaling> scaling;
};

// The last object of every command: "peaks", "ceilings" (a device each, "compute" and "bandwidth"
// in it), "fits", "timelines" and "payoffs" of transfers where there are some; for training
// "test_acc", "images_per_s", "devices", "ranks", for several devices "split" and "hidden_share",
// "checkpoint" and "profile" (whole steps) where there is one, and the settings; for scaling the
// settings.
std::string json_done(double seconds, const JobSummary& summary = {});
std::string json_error(const std::string& code, const std::string& message);

}  // namespace lab::app
