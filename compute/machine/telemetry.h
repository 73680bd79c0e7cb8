#pragma once
// Live readings of the machine and the tensors on it, once or in the background.
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

// Every live buffer of every device, oldest first. Safe from any thread.
TensorList list_tensors(Machine& machine);

// Reads utilisation, clocks, temperature and memory; a reading costs well under a millisecond.
class TelemetryReader {
 public:
  // `machine` must outlive the reader. `root` replaces "/" in tests ("<root>/proc/stat", ...).
  explicit TelemetryReader(Machine& machine, std::string root = "/");
  TelemetryReader(Machine& machine, GpuMonitorOptions options);  // `options.root` as above
  ~TelemetryReader();

  // Rates are since the previous call; the first call has no rates ("not read yet"). `t_s` is the
  // time on the lab's axis that the readings are stamped with. One thread at a time.
  Telemetry read(double t_s = 0);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Reads the machine in the background and reports its readings as job 0.
class TelemetrySampler {
 public:
  // Starts at once: a Telemetry every `interval_s`, and a TensorList whenever the live buffers
  // changed since the last one. `machine` and `channel` must outlive the sampler.
  TelemetrySampler(Machine& machine, Channel& channel, double interval_s = 0.5);
  // Stops promptly, whatever the interval.
  ~TelemetrySampler() = default;
  TelemetrySampler(const TelemetrySampler&) = delete;
  TelemetrySampler& operator=(const TelemetrySampler&) = delete;

  // Counts from the last reading; at least 20 ms.
  void set_interval(double interval_s);

 private:
  void loop(std::stop_token stop);

  Machine& machine_;
  Channel& channel_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  double interval_s_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace lab
