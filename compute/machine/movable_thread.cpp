#include "compute/machine/movable_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <ctime>

namespace lab {

namespace {

pid_t own_thread_id() {
  thread_local const auto id = static_cast<pid_t>(syscall(SYS_gettid));
  return id;
}

}  // namespace

void MovableThread::attach() {
  id_ = own_thread_id();
  if (pthread_getcpuclockid(pthread_self(), &clock_) != 0) id_ = 0;
}

bool MovableThread::is_caller() const {
  return id_ == own_thread_id();
}

std::int64_t MovableThread::cpu_ns() const {
  timespec used{};
  if (id_ == 0 || clock_gettime(clock_, &used) != 0) return 0;
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

void MovableThread::move_here() {
  const int core = sched_getcpu();
  if (id_ == 0 || moved_ || core < 0 || core >= CPU_SETSIZE) return;
  if (sched_getaffinity(id_, sizeof before_, &before_) != 0) return;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<std::size_t>(core), &here);
  moved_ = sched_setaffinity(id_, sizeof here, &here) == 0;
}

void MovableThread::move_back() {
  if (moved_) sched_setaffinity(id_, sizeof before_, &before_);
  moved_ = false;
}

}  // namespace lab
