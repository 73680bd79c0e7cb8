#pragma once
// Fork-join thread pool of one CPU device. Work is handed out in parts, so that threads on slow or
// busy cores take less of it. Idle threads spin briefly, then sleep.
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace lab {

// Non-owning reference to a callable: no allocation, valid while the callee runs.
template <typename Signature>
class FunctionRef;
template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
      FunctionRef(F&& f)  // NOLINT(google-explicit-constructor)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

// One turn of a loop that waits for another thread.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class ThreadPool {
 public:
  // One thread per listed core (OS numbers, at least one), pinned to it. The caller of run() is the
  // first; cores.size() - 1 threads are started. While other programs keep a thread from running, a
  // thread of the pool that has nothing left to do lets it run on its own core (a caller that is
  // not bound: on the core where it runs). A thread that cannot be pinned (permission, core outside
  // the affinity mask) runs unpinned. Throws Error(InvalidArgument) if `cores` is empty.
  explicit ThreadPool(std::vector<int> cores);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;
  const std::vector<int>& cores() const;

  // Calls task(t) for all t in [0, size()) concurrently, task(0) on the calling thread, and returns
  // when all have returned. For work that needs every thread; run_parts() copes better with a
  // delayed one. Then rethrows the first exception, if any. Not reentrant; a second caller waits
  // for the first. No heap allocation. Throws Error(Internal) if called from one of its own tasks.
  void run(FunctionRef<void(int thread)> task);

  // Calls task(part, thread) once for each part in [0, parts), and returns when all have returned.
  // Each thread starts with a contiguous range of the parts, in order, and then takes single parts
  // from the ends of the others' ranges; a thread that the system delays takes none. Calls with the
  // same `thread`, in [0, size()), do not overlap, so that it can select work memory; which thread
  // gets a part varies, so results must not depend on it. Errors as for run(), but after an
  // exception the parts that have not begun are left out; also throws Error(InvalidArgument) for
  // 2^31 parts or more.
  void run_parts(std::int64_t parts, FunctionRef<void(std::int64_t part, int thread)> task);
  // Also calls begin(thread) on each thread that takes parts before its first one, to prepare its
  // work memory.
  void run_parts(std::int64_t parts, FunctionRef<void(int thread)> begin,
                 FunctionRef<void(std::int64_t part, int thread)> task);

  // Divides [0, n) into contiguous pieces, each a multiple of `grain` except the last, which are
  // handed out like parts. Pieces vary with size(), so results must not depend on where they are
  // cut. Fewer than 2*grain items run on the caller.
  void parallel_for(std::int64_t n, std::int64_t grain,
                    FunctionRef<void(std::int64_t begin, std::int64_t end)> body);

  // Returns about how long it takes, in seconds, to hand out parts to all threads and to learn that
  // they are done, while the threads are awake: 5 microseconds or somewhat more where one does not
  // begin in time, because other programs keep it from running; 0 for a single thread. Measured now
  // and then, because a virtual machine's cores move, while no other caller uses the pool. Errors
  // as for run().
  double handing_out_s();

  // Pins the calling thread to the first core for the guard's lifetime, so that its part of the
  // work is done there; then restores the thread's affinity.
  class Guard {
   public:
    explicit Guard(const ThreadPool& pool);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    std::vector<int> before_;
    bool pinned_ = false;
  };
  Guard bind_caller() const { return Guard(*this); }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lab
