#pragma once
// Events as JSON objects, one a line: the contract that other programs read.
#include <optional>
#include <string>
#include <vector>

#include "compute/types/event.h"

namespace lab::app {

// The object of an event, without a line end; empty for events that are for the window alone.
// A number that is not finite becomes null.
std::optional<std::string> json_line(const Payload& payload);

// One {"type":"sample", ...} for each row of a profile that was timed.
std::vector<std::string> json_profile(const TrainingProfile& profile);

// {"type":"device", ...}. `telemetry` may be null.
std::string json_device(const DeviceInfo& info, const DeviceTelemetry* telemetry);

// {"type":"skip","what":"NVIDIA GPU","reason":"..."}.
std::string json_skip(const std::string& what, const std::string& reason);

// What a job found beside its cases; its last object tells it.
struct JobSummary {
  void add(const Payload& payload);  // keeps what belongs here, passes over the rest

  std::vector<PeakSample> peaks;
  std::vector<CeilingsMeasured> ceilings;
  std::vector<TransferFit> fits;
  std::optional<TrainingStarted> setup;
  std::optional<TrainingDone> training;
  std::optional<TrainingProfile> profile;  // the latest
  std::optional<StartScaling> scaling;
};

// The last object of every command: "peaks", "ceilings" (a device each, "compute" and "bandwidth"
// in it) and "fits" where there are some; for training "test_acc", "images_per_s", "devices",
// "ranks", for several devices "split" and "hidden_share", "checkpoint" and "profile" (whole steps)
// where there is one, and the settings; for scaling the settings.
std::string json_done(double seconds, const JobSummary& summary = {});
std::string json_error(const std::string& code, const std::string& message);

}  // namespace lab::app
