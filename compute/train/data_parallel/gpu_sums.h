#pragma once
// The sum of arrays on several GPUs, and the ways in which their values move.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compute/gpu/gpu_backend.h"

namespace lab {

class DeviceContext;

// A flat array in the memory of a GPU.
struct GpuArray {
  DeviceContext* device = nullptr;
  float* values = nullptr;
};

// All-reduce between GPUs of one backend. Used by one thread at a time. As long as it lives, the
// GPUs reach each other's memory where the machine allows it: NCCL too writes to arrays directly,
// which memory of a pool does not allow by itself.
class GpuSums {
 public:
  struct Member {
    GpuDevice* gpu = nullptr;
    float* values = nullptr;
    std::unique_ptr<GpuStream> stream;
  };

  // At least two arrays, each on a GPU of its own, which must outlive the object.
  explicit GpuSums(std::span<const GpuArray> arrays);
  virtual ~GpuSums();
  GpuSums(const GpuSums&) = delete;
  GpuSums& operator=(const GpuSums&) = delete;

  std::span<const Member> members() const { return members_; }

  // Queues on the stream of every member that values [begin, end) become the sums over all members,
  // bitwise equal on all of them. After this work of its stream, no GPU uses the member's values.
  virtual void queue(std::int64_t begin, std::int64_t end) = 0;
  // Throws the error of queued sums, if they can have one of their own.
  virtual void check() {}
  // Ends queued sums that would wait for a member without end; no more can be queued.
  virtual void abandon() noexcept {}

 protected:
  // Waits for all streams; not without end once a GPU is lost, for which another may wait, or after
  // limit_wait(). Returns whether all have ended; lost GPUs have.
  bool wait() noexcept;
  void limit_wait() noexcept { wait_is_limited_ = true; }

 private:
  class PeerAccess;

  std::vector<Member> members_;
  std::unique_ptr<PeerAccess> access_;
  bool wait_is_limited_ = false;
};

// Reduce-scatter and all-gather by copies between the GPUs: each GPU adds one piece of the range in
// the order of the members, as the CPU does. Copies go directly from GPU to GPU where the machine
// allows it, otherwise through the host. `longest` is the length of the longest range. Throws
// Error(OutOfMemory) with the requested and the available bytes.
std::unique_ptr<GpuSums> make_peer_sums(std::span<const GpuArray> arrays, std::int64_t longest);

}  // namespace lab
