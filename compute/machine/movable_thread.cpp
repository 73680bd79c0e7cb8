#include "compute/machine/movable_thread.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <mutex>
#include <string_view>
#include <utility>

namespace lab {

namespace {

pid_t own_thread_id() {
  thread_local const auto id = static_cast<pid_t>(syscall(SYS_gettid));
  return id;
}

// The threads that any object has moved; 0 is a free place.
struct MovedThreads {
  std::mutex mutex;
  std::array<pid_t, 256> ids{};

  pid_t* place_of(pid_t id) {
    const auto found = std::ranges::find(ids, id);
    return found == ids.end() ? nullptr : &*found;
  }
};

MovedThreads& moved_threads() {
  static MovedThreads all;
  return all;
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

// Without allocations, as all that a pool does between tasks.
bool MovableThread::is_ready() const {
  char text[512];
  const auto end = fmt::format_to_n(text, sizeof text - 1, "/proc/self/task/{}/stat", id_).out;
  *end = 0;
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  const ssize_t length = read(file, text, sizeof text);
  close(file);
  const std::string_view stat(text, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  const std::size_t state = stat.rfind(')');  // "1234 (name) R 1 ..."
  return state == std::string_view::npos || state + 2 >= stat.size() || stat[state + 2] == 'R';
}

void MovableThread::move_here() {
  const int core = sched_getcpu();
  if (id_ == 0 || moved_ || core < 0 || core >= CPU_SETSIZE) return;
  MovedThreads& all = moved_threads();
  const std::lock_guard lock(all.mutex);
  pid_t* const place = all.place_of(0);
  if (place == nullptr || all.place_of(id_) != nullptr) return;
  if (sched_getaffinity(id_, sizeof before_, &before_) != 0) return;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<std::size_t>(core), &here);
  moved_ = sched_setaffinity(id_, sizeof here, &here) == 0;
  if (moved_) *place = id_;
}

void MovableThread::move_back() {
  if (!std::exchange(moved_, false)) return;
  MovedThreads& all = moved_threads();
  const std::lock_guard lock(all.mutex);
  sched_setaffinity(id_, sizeof before_, &before_);
  *all.place_of(id_) = 0;
}

}  // namespace lab
