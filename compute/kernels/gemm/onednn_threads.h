#pragma once
// Controls the OpenMP threads of the caller, on which oneDNN computes.
#include <memory>

#include "compute/machine/thread_pool.h"

namespace lab {

// OpenMP ends threads for which a call has no work and starts others later. After calls of several
// sizes the team must be checked again (MayHaveChanged), which costs microseconds.
enum class OnednnTeam { Known, MayHaveChanged };

// Prepares the calling thread's OpenMP threads for oneDNN calls: as many as `pool` has, each on its
// core; the caller only if `pool` is null. Call it before creating a primitive, which divides its
// work among them, and before executing one.
void use_onednn_threads(const ThreadPool* pool, OnednnTeam team = OnednnTeam::Known);
// Sets the number of threads only, not their cores; sufficient to create a primitive.
void set_onednn_threads(int threads);

// After each call, OpenMP's threads spin for milliseconds and compete with the pool's threads for
// the same cores. While an object of this class exists, they sleep immediately. For oneDNN calls
// that alternate with the pool's work; consecutive oneDNN calls start more slowly.
class QuietOnednnThreads {
 public:
  QuietOnednnThreads();
  ~QuietOnednnThreads();
  QuietOnednnThreads(const QuietOnednnThreads&) = delete;
  QuietOnednnThreads& operator=(const QuietOnednnThreads&) = delete;

 private:
  struct IdleTeam;
  std::unique_ptr<IdleTeam> idle_team_;
};

}  // namespace lab
