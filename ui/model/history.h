#pragma once
// What devices did lately: readings kept for half an hour, bounded in number whatever the rate.
#include <cstdint>
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/core/events/gpu_info.h"
#include "ui/model/columns.h"

namespace lab::ui {

inline constexpr double kHistorySeconds = 30 * 60;
inline constexpr std::size_t kHistoryPoints = 1 << 14;

// Readings over time, oldest first; unknown values are NaN.
struct Curves {
  Column64 t_s;
  Column64 utilisation;  // 0..1
  Column64 clock_mhz;
  Column64 temperature_c;

 protected:
  // A reading that is not later than the last one adds nothing.
  void add(double t_s, const Maybe<double>& utilisation, const Maybe<double>& clock_mhz,
           const Maybe<double>& temperature_c);
};

// The readings of one device. The curves of a GPU are those of its GpuRecord.
struct DeviceHistory : Curves {
  DeviceTelemetry last;  // device is valid before the first reading, the values are "not read yet"
  bool seen = false;     // at least one reading arrived

  void add(const DeviceTelemetry& reading);
};

// The readings of one NVIDIA GPU.
struct GpuHistory : Curves {
  GpuTelemetry last;
  bool seen = false;

  void add(const GpuTelemetry& reading);
};

// An NVIDIA GPU, whether the lab computes on it or not.
struct GpuRecord {
  GpuFacts facts;
  GpuHistory history;
};

// What tensors of this process hold on one device over time.
struct MemoryHistory {
  Column64 t_s;
  Column64 used_bytes;
  std::int64_t used = 0;
  std::int64_t peak = 0;

  void add(double t_s, std::int64_t used_bytes, std::int64_t peak_bytes);
};

// `values` over the last `seconds` before `now_s` as `points` equal steps of time: the last value
// known at each step, NaN where there was none. For sparklines.
std::vector<float> resample(const Column64& t_s, const Column64& values, double now_s,
                            double seconds, std::size_t points);

}  // namespace lab::ui
