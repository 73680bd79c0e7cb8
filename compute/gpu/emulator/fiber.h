#pragma once
// A coroutine with its own stack, which runs the threads of blocks and is suspended at barriers.
#if !defined(__aarch64__)
#include <ucontext.h>
#endif

#include <cstddef>
#include <functional>

namespace lab::simt {

// All calls must come from one OS thread. The entry function must not throw, and must have returned
// before the fiber is destroyed or started again.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Prepares `entry`, which begins at the next resume(). Keeps a reference to it.
  void start(const std::function<void()>& entry) { entry_ = &entry; }
  // Runs the fiber until it leaves or its entry returns. Must not be called from inside a fiber.
  void resume();
  // Called inside the fiber: returns to the caller of resume().
  void yield();

 private:
  void enter();
#if defined(__aarch64__)
  static void trampoline(void** outside, void** inside);
#else
  static void trampoline(unsigned high, unsigned low);
#endif
  void run();

  void* stack() const;

  static constexpr int kJumpWords = 5;  // size of the __builtin_setjmp buffer
  void* memory_ = nullptr;              // a guard page, then the stack
#if !defined(__aarch64__)
  ucontext_t initial_context_{};
#endif
  bool ends_ = false;  // the fiber returns to its destructor for the last time
  void* inside_[kJumpWords] = {};
  void* outside_[kJumpWords] = {};
  bool entered_ = false;
  const std::function<void()>* entry_ = nullptr;
  void* inside_fake_stack_ = nullptr;  // for AddressSanitizer, as are the next two
  const void* outside_stack_ = nullptr;
  std::size_t outside_stack_bytes_ = 0;
  void* inside_thread_ = nullptr;  // for ThreadSanitizer, as is the next
  void* outside_thread_ = nullptr;
};

}  // namespace lab::simt
