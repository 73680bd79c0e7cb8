#pragma once
// One run of the matmul ladder: peak, and each kernel's curve over size.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "ui/model/columns.h"

namespace lab::ui {

struct KernelResults {
  Device device;
  std::string name;
  bool library = false;
  std::vector<MatmulSample> samples;  // by size, one a size: the last one taken
  Column64 size, gflops, gflops_low, gflops_high;
  Column64 live_t_s, live_gflops;  // a live run: every sample in the order taken

  const MatmulSample* at(std::int64_t n) const;  // null when that size was not measured
};

struct MatmulResults {
  StartMatmul request;
  double started_t_s = 0;
  std::vector<KernelResults> kernels;      // in ladder order as reported
  std::vector<PeakSample> peaks;           // one a device and dtype
  std::vector<CeilingsMeasured> ceilings;  // one a device
  std::vector<Skipped> skipped;

  bool empty() const { return kernels.empty() && peaks.empty() && skipped.empty(); }
  bool has_samples() const { return !kernels.empty(); }
  void add(const MatmulSample& sample, double t_s);
  void add(const PeakSample& peak);
  void add(const CeilingsMeasured& measured);
  const PeakSample* peak(Device device) const;
  const CeilingsMeasured* ceilings_of(Device device) const;  // null: none were measured
  // The largest size measured on `device` so far, which the ladder's bars show; 0: none.
  std::int64_t largest_size(Device device) const;
  // Every size measured on `device`, ascending.
  std::vector<std::int64_t> sizes(Device device) const;
  // Devices with results, in the order they came.
  std::vector<Device> devices() const;
};

}  // namespace lab::ui
