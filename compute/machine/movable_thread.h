#pragma once
// A thread that others can move to their core while it is needed and its own core is busy.
#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

#include <cstdint>

namespace lab {

// cpu_ns(), is_ready() and the moving members may be called by other threads, one at a time. Of
// several objects for one thread, one at a time moves it.
class MovableThread {
 public:
  // Makes this the calling thread.
  void attach();
  bool is_caller() const;

  // CPU time that the thread has used, in nanoseconds; 0 if it is not known.
  std::int64_t cpu_ns() const;

  // Whether the thread runs or waits for a core, rather than sleeps; true if it is not known.
  bool is_ready() const;

  // Restricts the thread to the core on which the calling thread runs; move_back() restores its
  // affinity. Without effect if another object has moved the thread, if the system refuses, or if
  // it has more cores than a cpu_set_t.
  void move_here();
  void move_back();
  bool moved() const { return moved_; }

 private:
  pid_t id_ = 0;
  clockid_t clock_{};
  bool moved_ = false;
  cpu_set_t before_{};
};

}  // namespace lab
