#pragma once
// One device's copy of the network and its part of a step. Driven by one thread at a time.
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute/nn/network.h"
#include "compute/nn/sgd.h"
#include "compute/train/batch_loader.h"
#include "compute/train/data_parallel/gradient_reducer.h"
#include "compute/train/gpu_batches.h"

namespace lab {

// A replica's results of one step. End times are relative to the beginning of the step.
struct ReplicaStep {
  double loss_sum = 0;
  std::int64_t correct = 0, images = 0;
  double backward_end_s = 0;  // end of its own work on the batch
  double finish_s = 0;        // its gradients are the sums
  SumTimes sums = {};
  double update_s = 0;  // duration of the update before this step; if queued, after it
};

class Replica {
 public:
  // The network has no memory for batches yet: see nn::Network::set_max_batch(). Throws
  // Error(OutOfMemory) with the requested and the available bytes.
  Replica(DeviceContext& device, nn::NetworkPlan plan, const nn::SgdOptions& sgd,
          std::uint64_t seed, const nn::KernelOptions& kernels = {});
  // Waits for the work queued on a GPU; after limit_wait(), for five seconds at most, because it
  // may wait for that of a GPU that is lost.
  ~Replica();
  void limit_wait() { wait_is_limited_ = true; }

  nn::Network& network() { return network_; }
  nn::Sgd& sgd() { return sgd_; }
  DeviceContext& device() { return network_.device(); }

  // Runs forward, loss and backward on the images of `slice` in the loader's step; the gradient is
  // that of sum(loss) / divisor. Does nothing without images. Meanwhile copies the next step's
  // images if a hardware thread is idle or steps are long.
  nn::BatchResult compute(const BatchLoader& loader, std::int64_t step, BatchSlice slice,
                          double divisor, const nn::PassOptions& options);
  // On a GPU: queues the same work, as Network::queue_step(), or nothing without images.
  // queue_with_update() queues that of the whole batch and the update at learning rate `lr`.
  void queue(const BatchLoader& loader, std::int64_t step, BatchSlice slice, double divisor,
             const nn::PassOptions& options);
  void queue_with_update(const BatchLoader& loader, std::int64_t step, double lr,
                         const nn::PassOptions& options);

  // On a GPU: keeps memory for data sets that are copied there when they are first used; 0 gives it
  // back. Throws Error(OutOfMemory).
  void reserve_images(std::int64_t bytes);

  // Loads the images of `slice` in the loader's step into the network's input.
  void load(const BatchLoader& loader, std::int64_t step, BatchSlice slice);

  // Copies parameters, momentum and running statistics of another replica, from host memory to host
  // memory.
  void copy_state(Replica& from);
  // As read_state() and write_state() of the network and of the optimizer.
  void read_state();
  void write_state();

 private:
  void wait_a_while();
  void prepare_next(const BatchLoader& loader, std::int64_t step, BatchSlice slice);

  nn::Network network_;
  nn::Sgd sgd_;
  const bool spare_threads_;  // some hardware threads do not compute
  bool wait_is_limited_ = false;
  double last_compute_s_ = std::numeric_limits<double>::infinity();
  StagedBatch staged_;
  std::unique_ptr<GpuBatches> gpu_batches_;  // on a GPU
};

// Plans the buckets of a network's flat gradients.
std::vector<GradientBucket> buckets_of(nn::Network& network, std::int64_t bucket_bytes);

}  // namespace lab
