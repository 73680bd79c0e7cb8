#pragma once
// Recent readings of the devices: the last half hour, bounded in number at any sampling interval.
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "compute/core/events/device_info.h"
#include "compute/core/events/event.h"
#include "compute/core/events/gpu_info.h"
#include "ui/model/columns.h"

namespace lab::ui {

inline constexpr double kHistorySeconds = 30 * 60;
inline constexpr std::size_t kHistoryPoints = 1 << 14;

// Drops points that are older than kHistorySeconds before the last one, or beyond kHistoryPoints,
// in blocks, so that appending stays cheap: columns hold at most twice the limits. Parallel to t_s.
void keep_recent(Column64& t_s, std::initializer_list<Column64*> others);

// What the curves keep of a reading; NaN if unknown.
struct CurvePoint {
  double utilisation = kNoValue;  // 0..1
  double memory_used_bytes = kNoValue;
  double clock_mhz = kNoValue;
  double temperature_c = kNoValue;
  double power_w = kNoValue;
};

// Readings over time, oldest first; unknown values are NaN.
struct Curves {
  Column64 t_s;
  Column64 utilisation;        // 0..1
  Column64 memory_used_bytes;  // by any program, of the machine (CPU devices) or the GPU
  Column64 clock_mhz;
  Column64 temperature_c;
  Column64 power_w;

 protected:
  // Ignores a reading that is not later than the last one.
  void add(double t_s, const CurvePoint& point);
};

// Readings of one device. The curves of a GPU are stored in its GpuRecord.
struct DeviceHistory : Curves {
  DeviceTelemetry last;  // before the first reading only device is valid; values are "not read yet"
  bool seen = false;     // at least one reading arrived

  void add(const DeviceTelemetry& reading, std::int64_t memory_bytes = 0);  // 0: unknown
};

// Readings of one NVIDIA GPU.
struct GpuHistory : Curves {
  GpuTelemetry last;
  bool seen = false;

  void add(const GpuTelemetry& reading);
};

// What kept the cores of the CPU devices busy over time, in hardware threads that were busy all the
// time.
struct CoreUse {
  Column64 t_s;
  Column64 lab, programs, host;  // parallel; as OtherLoad
  int threads = 0;               // hardware threads of the devices; 0: nothing read yet

  // Mean over the readings of the last `seconds` of what other programs and the host took.
  OtherLoad others_lately(double seconds = 4) const;
  // The same as a share, 0 to 1, of the devices' hardware threads.
  double others_share(double seconds) const;
  void add(double at_s, double lab_cpu, const OtherLoad& others);
};

// An NVIDIA GPU, whether or not the lab computes on it.
struct GpuRecord {
  GpuFacts facts;
  GpuHistory history;
};

// Memory held by this process's tensors on one device over time. A new peak between two readings is
// recorded at the later one.
struct MemoryHistory {
  Column64 t_s;
  Column64 used_bytes;
  std::int64_t used = 0;
  std::int64_t peak = 0;

  void add(double t_s, std::int64_t used_bytes, std::int64_t peak_bytes);
};

// Resamples `values` over the last `seconds` before `now_s` to `points` equal time steps: the last
// known value at each step, NaN if there is none. For sparklines.
std::vector<float> resample(const Column64& t_s, const Column64& values, double now_s,
                            double seconds, std::size_t points);

}  // namespace lab::ui
