#pragma once
// NCCL on emulated GPUs: sums in the order of the ranks, in the emulator's memory. A wrong call
// fails the test.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

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
  struct Call {
    const void* from = nullptr;
    void* to = nullptr;
    std::size_t count = 0;
    nccl::Communicator communicator = nullptr;
    GpuStream* stream = nullptr;
  };
  // Communicators that were made together, and whether one of them was aborted.
  struct Clique {
    std::vector<int> ordinals;
    std::atomic<bool> aborted = false;
  };
  struct Member {
    std::shared_ptr<Clique> clique;
    int rank = 0;
  };

  int result(const char* function) const;
  void run_group();
  void queue_sum(const std::vector<Call>& calls, const std::shared_ptr<Clique>& clique);
  void end_communicator(nccl::Communicator communicator);

  const std::vector<GpuDevice*> gpus_;
  std::map<nccl::Communicator, Member> members_;
  std::uintptr_t made_ = 0;
  int depth_ = 0;  // of open groups
  std::vector<Call> group_;
  int sums_ = 0, aborted_ = 0;
};

}  // namespace lab::test
