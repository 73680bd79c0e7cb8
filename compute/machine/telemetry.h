#pragma once
// Live readings of the machine and its tensors, on demand or in the background.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "compute/core/events/event.h"
#include "compute/machine/gpu_monitor.h"
#include "compute/machine/machine.h"
#include "compute/run/channel.h"

namespace lab {

// Returns all live buffers of all devices, oldest first. Thread-safe.
TensorList list_tensors(Machine& machine);

// Reads utilisation, clocks, temperature and memory; a reading takes well under a millisecond.
class TelemetryReader {
 public:
  // `machine` must outlive the reader. `root` replaces "/" in tests ("<root>/proc/stat", ...).
  explicit TelemetryReader(Machine& machine, std::string root = "/");
  TelemetryReader(Machine& machine, GpuMonitorOptions options);  // `options.root` as above
  ~TelemetryReader();

  // Rates are averages since the previous call; the first call has none ("not read yet"). `t_s` is
  // the timestamp of the readings on the lab's time axis. Not thread-safe.
  Telemetry read(double t_s = 0);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Samples the machine in the background and reports the readings as job 0.
class TelemetrySampler {
 public:
  // Starts immediately: sends a Telemetry every `interval_s`, the second one after a quarter of a
  // second at most, since the first has no rates; and a TensorList whenever the live
  // buffers changed since the last one. `machine` and `channel` must outlive the sampler.
  TelemetrySampler(Machine& machine, Channel& channel, double interval_s = 0.5);
  // Stops promptly, regardless of the interval.
  ~TelemetrySampler() = default;
  TelemetrySampler(const TelemetrySampler&) = delete;
  TelemetrySampler& operator=(const TelemetrySampler&) = delete;

  // The new interval counts from the last reading; at least 20 ms.
  void set_interval(double interval_s);
  // Reads as soon as the last reading is a quarter of a second old, since rates need some time;
  // then at the interval again.
  void read_now();
  // While on, a reading reports every two seconds which programs use the cores.
  void watch_programs(bool on);

 private:
  void loop(std::stop_token stop);

  Machine& machine_;
  Channel& channel_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  double interval_s_;
  bool wanted_ = false;  // a reading, by read_now()
  bool programs_watched_ = false;
  std::jthread thread_;  // last member: uses all of the above
};

}  // namespace lab
