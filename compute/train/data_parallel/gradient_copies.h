#pragma once
// Moves the gradients of a replica on a GPU to a copy in host memory, where they are summed, and
// the sums back. The copies run on a stream per direction, concurrently with
// backward.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "compute/gpu/gpu_backend.h"
#include "compute/train/data_parallel/gradient_reducer.h"

namespace lab {

// Used by the thread that drives the replica. Buckets are sent in order.
class GradientCopies {
 public:
  // Flat arrays of gradients in the memory of `gpu` and in pinned memory.
  GradientCopies(GpuDevice& gpu, float* on_gpu, float* on_host,
                 std::span<const GradientBucket> buckets);
  // Waits for the copies.
  ~GradientCopies();
  GradientCopies(const GradientCopies&) = delete;
  GradientCopies& operator=(const GradientCopies&) = delete;

  void begin_step();
  // The work queued on the main stream makes the bucket final: queues its copy to the host.
  void send(std::size_t bucket);
  // The number of buckets in host memory. Never waits.
  std::size_t arrived();
  // Queues the copy of a bucket's sums to the GPU. All buckets are brought back in each step.
  void bring_back(std::size_t bucket);
  // Whether all sums are on the GPU. Never waits.
  bool complete();

 private:
  struct Bucket {
    GradientBucket range;
    std::unique_ptr<GpuEvent> final, arrived;
  };
  GpuDevice& gpu_;
  float* const on_gpu_;
  float* const on_host_;
  std::vector<Bucket> buckets_;
  std::unique_ptr<GpuStream> to_host_, to_gpu_;
  std::unique_ptr<GpuEvent> returned_;
  std::size_t sent_ = 0, arrived_ = 0, brought_back_ = 0;
};

}  // namespace lab
