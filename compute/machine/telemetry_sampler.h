#pragma once
// Reads the machine in the background and reports what it sees, as job 0.
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "compute/machine/machine.h"
#include "compute/run/channel.h"

namespace lab {

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
