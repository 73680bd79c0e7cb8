#pragma once
// Analytic model of a data-parallel training step on n devices, and predictions from it. Nothing
// here is timed.
//
// Compute    t(images) = fixed + per_image * images on one device; forward takes the first third
//            and backward the rest, unless the workload specifies otherwise.
// All-reduce alpha-beta model of a ring: reduce-scatter and all-gather send n-1 messages each,
//            2(n-1) alpha + 2(n-1)/n bytes/beta. No algorithm moves fewer bytes.
//            Every bucket pays the latency of its messages.
// Overlap    buckets use the link one at a time; each starts once its gradients are ready and the
//            previous bucket is done. Time past the end of backward is exposed.
// Process    what one process does for its devices: reading the images (a lower bound of the step)
//            and, with several devices, launching the same work again for each.
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
  // If `fixed_s` is negative, because small batches take less time per image (they fit in caches),
  // times below this number of images follow a line through the origin.
  double min_images = 0;
  // Returns 0 for 0 images: a device without a share is idle.
  double at(double images) const;
};

struct ComputePoint {
  double images = 0;
  double seconds = 0;
};

// Fits a non-decreasing line by relative least squares; points of a single size give a line through
// the origin. Throws Error(InvalidArgument) if no point is above 0.
ComputeTime fit_compute(std::span<const ComputePoint> points);

// Gradients that are all-reduced together.
struct BucketLoad {
  double bytes = 0;
  double ready = 1;  // when they are complete, as a fraction of backward
};

struct Workload {
  ComputeTime compute;
  double backward_share = 2.0 / 3;  // of the compute time
  std::vector<BucketLoad> buckets;  // in the order in which backward completes them
  // What a process repeats for each device beyond its first, one device after another: copying the
  // module and launching its operations. Only DataParallel has several devices per process.
  double repeated_s = 0;
  // Time in which a process reads an image. It reads ahead while the devices compute, so a step
  // takes at least as long as reading its images.
  double reading_s_per_image = 0;
  // Bytes per image that DataParallel scatters from device 0 and gathers on it.
  double input_bytes = 0, output_bytes = 0;
  double bytes() const;
};

// Returns the buckets that the trainer forms from the model's gradients, and when each is complete.
// Completion is proportional to the multiplications done so far, which assumes equal throughput for
// all operations of backward. Throws Error(NotFound) for an unknown model.
std::vector<BucketLoad> bucket_loads(std::string_view model, std::int64_t bucket_bytes);

enum class AllReduceStyle {
  // The link transfers while the device computes: NCCL, network adapters.
  Overlapped,
  // Compute cores sum between the operations of backward: no stalls, but it costs core time.
  OnCores,
  // PyTorch's nn.DataParallel, as in the chapter: one process drives all devices. Device 0 sends
  // the parameters and each device's images before the step, and receives outputs and gradients
  // after it, pipelined along all devices. No overlap.
  DataParallel,
};

AllReduceStyle all_reduce_style(ParallelStyle style);

double ring_all_reduce_s(double bytes, const Link& link, int devices);
// Broadcast from one device to all, or reduction to one: (n-1) alpha + bytes/beta.
double pipeline_s(double bytes, const Link& link, int devices);

struct PredictedStep {
  double step_s = 0;
  StepSplit split;       // compute and imbalance are means over the devices
  double process_s = 0;  // repeated launches, and waiting for images to be read
};

// Predicts a step of `batch` images divided over `devices`; shares differ by at most one image.
PredictedStep predict_step(const Workload& work, const Link& link, AllReduceStyle style,
                           int devices, std::int64_t batch);

// Total all-reduce time of a step on a number of devices.
struct AllReducePoint {
  int devices = 2;
  double seconds = 0;
};

// Fits the link's latency and rate to measured sums by relative least squares; a single point
// determines the rate and leaves the latency at 0. Throws Error(InvalidArgument) if no point has at
// least two devices and a time above 0.
Link fit_link(std::string name, std::string sentence, const Workload& work,
              std::span<const AllReducePoint> points);

struct PredictionCase {
  ScalingMode mode = ScalingMode::Strong;
  std::int64_t batch = 0;  // per device (weak) or in total (strong)
  std::string basis;
};

// Prediction for `devices` devices over the link, relative to one device with the same workload.
ScalingPrediction predict(const Workload& work, const Link& link, AllReduceStyle style,
                          const PredictionCase& scenario, int devices);

// Applies the model to measured device counts: compute time as measured on a single device, sums
// over a link fitted to the measured ones. `core_loads` holds, per point, the number of its devices
// that share a core. Empty if no point has two or more devices.
std::vector<ScalingPrediction> model_measurements(const Workload& work,
                                                  const PredictionCase& scenario,
                                                  const std::vector<ScalingPoint>& points,
                                                  const std::vector<double>& core_loads);

}  // namespace lab
