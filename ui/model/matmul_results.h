#pragma once
// The results of matmul, kernel by kernel, and the roofline made from them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/core/events/roofline.h"
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

// --- roofline -------------------------------------------------------------------------------
// A ceiling as a line over arithmetic intensity. Exactly one of the pointers is set; they go into
// the ceilings given.
struct CeilingLine {
  const ComputeCeiling* compute = nullptr;
  const BandwidthCeiling* bandwidth = nullptr;
  std::string label;  // "FMA f32, 2 threads", "L2"
  Column64 x, y;      // FLOP per byte, GFLOP/s
};

// Bandwidths rise up to the highest compute ceiling, compute ceilings begin where the highest
// bandwidth reaches them. The lines span what `intensities` and every ridge need to be seen.
std::vector<CeilingLine> ceiling_lines(const CeilingsMeasured& ceilings,
                                       const std::vector<double>& intensities);

// Every sample of one kernel as points under the ceilings, by intensity.
struct KernelPoints {
  const KernelResults* kernel = nullptr;
  Column64 x, y;
};
KernelPoints kernel_points(const KernelResults& kernel);

// One sentence: whether memory or compute limits the product, and how near the kernel is to that.
std::string limit_sentence(const MatmulSample& sample, const CeilingsMeasured& ceilings,
                           CacheState cache);

std::string compute_label(const ComputeCeiling& ceiling);  // "FMA f32, 2 threads"

}  // namespace lab::ui
