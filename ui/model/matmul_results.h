#pragma once
// Matmul results per kernel, and the roofline derived from them.
#include <cstdint>
#include <ctime>
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
  std::vector<MatmulSample> samples;  // ascending in size; the last sample per size
  Column64 size, gflops, gflops_low, gflops_high;
  Column64 unsteady;               // 1 where the sample is_unsteady()
  Column64 live_t_s, live_gflops;  // live run: the recent samples in the order taken

  const MatmulSample* at(std::int64_t n) const;  // null if that size was not measured
};

struct MatmulResults {
  StartMatmul request;
  double started_t_s = 0;
  std::time_t measured_at = 0;             // wall clock, when it ended; 0: it has not
  bool earlier = false;                    // in an earlier session
  double others = 0;                       // as CoresShared::others; 0 if not notable
  std::vector<KernelResults> kernels;      // in ladder order, as reported
  std::vector<PeakSample> peaks;           // one per device and dtype
  std::vector<CeilingsMeasured> ceilings;  // one per device
  std::vector<TogetherSample> together;    // in the order taken
  std::vector<TogetherSpeedup> speedups;   // one per size
  std::vector<Skipped> skipped;
  std::vector<RungFailed> failed;

  bool empty() const {
    return kernels.empty() && peaks.empty() && together.empty() && skipped.empty() &&
           failed.empty();
  }
  bool has_samples() const { return !kernels.empty(); }
  void add(const MatmulSample& sample, double t_s);
  void add(const PeakSample& peak);
  void add(const CeilingsMeasured& measured);
  const PeakSample* peak(Device device) const;
  const CeilingsMeasured* ceilings_of(Device device) const;  // null: none were measured
  // Largest size measured on `device` so far, which the ladder's bars show; 0: none.
  std::int64_t largest_size(Device device) const;
  // All sizes measured on `device`, ascending.
  std::vector<std::int64_t> sizes(Device device) const;
  // Devices with results, in order of arrival.
  std::vector<Device> devices() const;
  // The largest speed-up among the sizes whose rounds agree; null: none.
  const TogetherSpeedup* best_speedup() const;
};

// "Three loops": the title of `device`'s rung `name`, or `name` if none is known.
std::string kernel_title(const std::vector<RungInfo>& rungs, Device device,
                         const std::string& name);

// Whether the rounds vary by more than a quarter, p10 to p90, or disagree with the medians of their
// times.
bool is_unsteady(const TogetherSpeedup& speedup);

// Whether any figure of the run is marked: of a kernel, a ceiling or a speed-up.
bool has_unsteady_figures(const MatmulResults& results);

// --- roofline -------------------------------------------------------------------------------
// A ceiling as a line over arithmetic intensity. Exactly one of the pointers is set; it points into
// the ceilings passed to ceiling_lines().
struct CeilingLine {
  const ComputeCeiling* compute = nullptr;
  const BandwidthCeiling* bandwidth = nullptr;
  std::string label;  // "FMA f32, 2 threads", "L2"
  Column64 x, y;      // FLOP per byte, GFLOP/s
};

// Bandwidth lines rise to the highest compute ceiling; compute lines start where the highest
// bandwidth reaches them. The lines span `intensities` and every ridge point.
std::vector<CeilingLine> ceiling_lines(const CeilingsMeasured& ceilings,
                                       const std::vector<double>& intensities);

// All samples of one kernel as points below the ceilings, by arithmetic intensity.
struct KernelPoints {
  const KernelResults* kernel = nullptr;
  Column64 x, y;
};
KernelPoints kernel_points(const KernelResults& kernel);

// Whether the product or one of the ceilings over it was measured too unsteadily for the sentence.
bool limit_is_unsteady(const MatmulSample& sample, const CeilingsMeasured& ceilings,
                       CacheState cache);

// One sentence: whether memory or compute limits the product, and how close the kernel is to the
// limit.
std::string limit_sentence(const MatmulSample& sample, const CeilingsMeasured& ceilings,
                           CacheState cache);

std::string compute_label(const ComputeCeiling& ceiling);  // "FMA f32, 2 threads"

}  // namespace lab::ui
