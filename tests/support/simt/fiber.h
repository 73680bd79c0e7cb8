#pragma once
// A stack of its own for each thread of a block, to be left and entered again at its barriers.
#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace lab::simt {

// All calls come from one OS thread. The entry function must not throw, and must have returned
// before the fiber is destroyed or started again.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Prepares `entry`; it begins with the first resume(). Keeps a reference to it.
  void start(const std::function<void()>& entry);
  // Runs the fiber until it leaves or its entry returns. Not from inside a fiber.
  void resume();
  // From inside the fiber: back to whoever resumed it.
  void leave();

 private:
  static void trampoline(unsigned high, unsigned low);
  void run();

  void* stack() const;

  static constexpr int kJumpWords = 5;  // what __builtin_setjmp fills
  void* memory_ = nullptr;              // a guard page, then the stack
  ucontext_t beginning_{};
  void* inside_[kJumpWords] = {};
  void* outside_[kJumpWords] = {};
  bool entered_ = false;
  const std::function<void()>* entry_ = nullptr;
  void* inside_fake_stack_ = nullptr;  // for the address sanitizer, as are the next two
  const void* outside_stack_ = nullptr;
  std::size_t outside_stack_bytes_ = 0;
};

}  // namespace lab::simt
