#pragma once
// Fork-join thread pool of one CPU device, each thread pinned to one core. Idle threads do not
// spin.
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

class ThreadPool {
 public:
  // One thread per listed core (OS numbers, at least one). The caller of run() is the first;
  // cores.size() - 1 threads are started. A thread that cannot be pinned (permission, core outside
  // the affinity mask) runs unpinned. Throws Error(InvalidArgument) if `cores` is empty.
  explicit ThreadPool(std::vector<int> cores);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;
  const std::vector<int>& cores() const;

  // Calls task(t) for all t in [0, size()) concurrently, task(0) on the calling thread, and returns
  // when all have returned. Then rethrows the first exception, if any. Not reentrant; a second
  // caller waits for the first. No heap allocation. Throws Error(Internal) if called from one of
  // its own tasks.
  void run(FunctionRef<void(int thread)> task);

  // Splits [0, n) into one contiguous piece per thread, each a multiple of `grain` except the last
  // nonempty one; pieces depend only on n, grain and size(). Fewer than 2*grain items run on the
  // caller.
  void parallel_for(std::int64_t n, std::int64_t grain,
                    FunctionRef<void(std::int64_t begin, std::int64_t end)> body);

  // Pins the calling thread to the first core for the guard's lifetime, so that task(0) runs on its
  // core; then restores the thread's affinity.
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
