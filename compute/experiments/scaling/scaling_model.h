#pragma once
// What a step of data-parallel training takes on n devices, and predictions made of that:
// arithmetic alone, no clock.
//
// Compute    t(images) = fixed + per_image * images on one device; forward is the first third
//            and backward the rest, unless the workload knows better.
// All-reduce alpha-beta model over a ring: reduce-scatter and all-gather send n-1 messages each,
//            2(n-1) alpha + 2(n-1)/n bytes/beta. No algorithm moves fewer bytes.
// Overlap    buckets pass over the link one after the other; each starts when its gradients are
//            ready and the one before is through. What ends after backward is exposed.
// Source     Thakur, Rabenseifner, Gropp 2005, "Optimization of Collective Communication Operations
//            in MPICH"; Patarasuk, Yuan 2009, "Bandwidth Optimal All-reduce Algorithms for Clusters
//            of Workstations"; overlap: Li et al. 2020, "PyTorch Distributed".
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/experiments/scaling/links.h"

namespace lab {

struct ComputeTime {
  double fixed_s = 0, per_image_s = 0;
  // Where `fixed_s` is negative, because small batches are quicker for an image (they fit into
  // caches), the line is left at this number of images for the origin.
  double least_images = 0;
  // 0 for no images: a device without a share does nothing.
  double at(double images) const;
};

struct ComputePoint {
  double images = 0;
  double seconds = 0;
};

// The line through the points by relative least squares, rising or level; points of one size alone
// give a line through the origin. Throws Error(InvalidArgument) without a point above 0.
ComputeTime fit_compute(std::span<const ComputePoint> points);

// Gradients that are summed together.
struct BucketLoad {
  double bytes = 0;
  double ready = 1;  // when they are complete, as a share of backward
};

struct Workload {
  ComputeTime compute;
  double backward_share = 2.0 / 3;  // of the compute time
  std::vector<BucketLoad> buckets;  // in the order in which backward completes them
  double bytes() const;
};

// The buckets a trainer makes of the model's gradients, and when in backward each is complete: in
// proportion to the multiplications done until then, which takes all of backward's operations for
// equally quick. Throws Error(NotFound) for an unknown model.
std::vector<BucketLoad> bucket_loads(std::string_view model, std::int64_t bucket_bytes);

enum class SumStyle {
  // The link works while the device computes: NCCL, network adapters.
  Overlapped,
  // The computing cores sum between backward's operations: nothing waits, but the work is theirs.
  OnCores,
  // PyTorch's nn.DataParallel, the chapter's way: parameters go from device 0 to all in front of
  // each step and gradients back behind it, as pipelines along all devices; nothing overlaps.
  DataParallel,
};

double ring_all_reduce_s(double bytes, const Link& link, int devices);
// From one device to all, or the sum of all on one: (n-1) alpha + bytes/beta.
double pipeline_s(double bytes, const Link& link, int devices);

struct PredictedStep {
  double step_s = 0;
  StepSplit split;  // compute and imbalance are means over the devices
};

// A step of `batch` images divided over `devices`, sizes differing by one at most.
PredictedStep predict_step(const Workload& work, const Link& link, SumStyle style, int devices,
                           std::int64_t batch);

// What all sums of a step took on so many devices.
struct SumPoint {
  int devices = 2;
  double seconds = 0;
};

// The link's latency and rate from measured sums, by relative least squares; one point alone fixes
// the rate and leaves the latency at 0. Throws Error(InvalidArgument) without a point of at least
// two devices and a time above 0.
Link fit_link(std::string name, std::string sentence, const Workload& work,
              std::span<const SumPoint> points);

// 1, 2, 4, ... and `largest` itself; empty for 0.
std::vector<int> doubling_counts(int largest);

struct PredictionCase {
  ScalingMode mode = ScalingMode::Strong;
  std::int64_t batch = 0;  // of one device (weak) or of all (strong)
  std::string basis;
};

// One number of devices over the link, against one device of the same workload.
ScalingPrediction predict(const Workload& work, const Link& link, SumStyle style,
                          const PredictionCase& what, int devices);

// The model against measured numbers of devices: compute as one device alone took it, sums over a
// link fitted to the measured ones. `core_loads`: for each point how many of its devices share a
// core. Empty when no point has two devices or more.
std::vector<ScalingPrediction> explain(const Workload& work, const PredictionCase& what,
                                       const std::vector<ScalingPoint>& points,
                                       const std::vector<double>& core_loads);

}  // namespace lab
