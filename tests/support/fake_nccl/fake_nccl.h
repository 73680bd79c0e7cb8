#pragma once
// NCCL on emulated GPUs: sums in the order of the ranks, in the emulator's memory. A wrong call
// fails the test. It checks what NCCL would only misbehave on: buffers outside the memory of the
// rank's GPU, when the sum is queued and when it runs; buffers that overlap; a communicator that is
// destroyed while a sum of it is queued or running, or after an error; one that is used after its
// end; calls between an error in a group and the end of the group.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compute/gpu/emulator/device/handles.h"
#include "compute/gpu/gpu_backend.h"
#include "compute/gpu/nccl/nccl_library.h"

namespace lab::test {

// One at a time. Used by one thread at a time, as its caller is expected to.
class FakeNccl {
 public:
  // `gpus`: the emulated GPU of each ordinal.
  explicit FakeNccl(std::vector<GpuDevice*> gpus);
  // Fails the test if communicators are left.
  ~FakeNccl();
  FakeNccl(const FakeNccl&) = delete;
  FakeNccl& operator=(const FakeNccl&) = delete;

  nccl::Library library() const;

  // Faults: this function returns kInvalidUsage; communicators report this error; sums never end
  // before their communicators are aborted.
  std::string fails;
  std::atomic<int> async_error = nccl::kSuccess;
  bool hangs = false;

  int sums() const { return sums_; }        // groups of ncclAllReduce
  int aborted() const { return aborted_; }  // communicators

 private:
  friend struct FakeNcclCalls;
  // One rank's part in a sum.
  struct Part {
    const void* from = nullptr;
    void* to = nullptr;
    std::size_t count = 0;
    nccl::Communicator communicator = nullptr;
    GpuStream* stream = nullptr;
    const emulated::DeviceMemory* memory = nullptr;  // of the rank's GPU

    std::int64_t bytes() const { return static_cast<std::int64_t>(count * sizeof(float)); }
    bool is_allocated() const;
  };
  // Communicators that were made together.
  struct Clique {
    std::vector<int> ordinals;
    std::atomic<bool> aborted = false;  // at least one of them
    bool call_failed = false;           // no further sums
    bool sum_failed = false;            // no further sums, and an abort instead of a destroy
  };
  struct Member {
    std::shared_ptr<Clique> clique;
    int rank = 0;
    std::vector<emulated::Position> sums = {};  // ends of those that may not have run
  };

  Member& live(nccl::Communicator communicator);
  emulated::Core& core_of(const Member& member) const;
  bool in_open_group(nccl::Communicator communicator) const;
  bool is_used(nccl::Communicator communicator, const Member& member) const;
  bool has_failed(const Clique& clique) const;
  void check_part(const Part& part, const emulated::Core& core) const;
  void end_group(bool failed);
  void queue_sum(const std::vector<Part>& parts, const std::shared_ptr<Clique>& clique);
  void remember_sum(const Part& part);

  const std::vector<GpuDevice*> gpus_;
  std::map<nccl::Communicator, Member> members_;
  std::uintptr_t made_ = 0;
  int depth_ = 0;              // of open groups
  bool group_failed_ = false;  // a call in it has failed
  std::vector<Part> group_;
  int sums_ = 0, aborted_ = 0;
};

}  // namespace lab::test
