#pragma once
// Where oneDNN computes: on the OpenMP threads of whoever calls it.
#include <memory>

#include "compute/machine/thread_pool.h"

namespace lab {

// OpenMP ends threads that a call has no work for, and starts others later: after calls of several
// sizes the team has to be looked at again, which costs microseconds.
enum class OnednnTeam { Known, MayHaveChanged };

// Prepares the calling thread's OpenMP threads for calls of oneDNN: as many as `pool` has, each on
// its core; the caller alone for nullptr. To be called before a primitive is made, which divides
// its work by them, and before it is executed.
void use_onednn_threads(const ThreadPool* pool, OnednnTeam team = OnednnTeam::Known);
// The number alone, wherever they run: enough to make a primitive.
void set_onednn_threads(int threads);

// Behind each call OpenMP's threads stay awake for milliseconds, in the way of the pool's on the
// same cores. While one of these lives they go to sleep at once: for work that takes turns with the
// pool, not for calls in a row, which they answer later then.
class QuietOnednnThreads {
 public:
  QuietOnednnThreads();
  ~QuietOnednnThreads();
  QuietOnednnThreads(const QuietOnednnThreads&) = delete;
  QuietOnednnThreads& operator=(const QuietOnednnThreads&) = delete;

 private:
  struct Crowd;
  std::unique_ptr<Crowd> crowd_;
};

}  // namespace lab
