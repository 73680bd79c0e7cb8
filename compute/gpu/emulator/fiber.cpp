#include "compute/gpu/emulator/fiber.h"

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#if defined(__SANITIZE_ADDRESS__)  // GCC
#define LAB_ADDRESS_SANITIZER
#elif defined(__has_feature)  // Clang
#if __has_feature(address_sanitizer)
#define LAB_ADDRESS_SANITIZER
#endif
#endif

#if defined(__SANITIZE_THREAD__)  // GCC
#define LAB_THREAD_SANITIZER
#elif defined(__has_feature)  // Clang
#if __has_feature(thread_sanitizer)
#define LAB_THREAD_SANITIZER
#endif
#endif

#if defined(LAB_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(LAB_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace lab::simt {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kStackBytes = std::size_t{256} << 10;

#if defined(LAB_ADDRESS_SANITIZER)
void begin_switch(void** fake_stack, const void* stack, std::size_t bytes) {
  __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
}
void end_switch(void* fake_stack, const void** old_stack, std::size_t* old_bytes) {
  __sanitizer_finish_switch_fiber(fake_stack, old_stack, old_bytes);
}
#else
void begin_switch(void** /*fake_stack*/, const void* /*stack*/, std::size_t /*bytes*/) {}
void end_switch(void* /*fake_stack*/, const void** /*old_stack*/, std::size_t* /*old_bytes*/) {}
#endif

// ThreadSanitizer treats a fiber as a thread of its own that the switch synchronises with.
#if defined(LAB_THREAD_SANITIZER)
void* make_thread() {
  return __tsan_create_fiber(0);
}
void end_thread(void* thread) {
  __tsan_destroy_fiber(thread);
}
void* this_thread() {
  return __tsan_get_current_fiber();
}
void switch_thread(void* to) {
  __tsan_switch_to_fiber(to, 0);
}
#else
void* make_thread() {
  return nullptr;
}
void end_thread(void* /*thread*/) {}
void* this_thread() {
  return nullptr;
}
void switch_thread(void* /*to*/) {}
#endif

// Switches with __builtin_setjmp of GCC and Clang: swapcontext makes a system call for the signal
// mask on every switch, and AddressSanitizer's longjmp and swapcontext clear the poisoned regions
// of a stack. These functions are not instrumented for the latter reason.
#define LAB_UNINSTRUMENTED [[gnu::noinline, gnu::no_sanitize_address]]

LAB_UNINSTRUMENTED void jump(void** to) {
  __builtin_longjmp(to, 1);
}

LAB_UNINSTRUMENTED void swap_stacks(void** from, void** to) {
  if (__builtin_setjmp(from) == 0) jump(to);
}

LAB_UNINSTRUMENTED void enter_stack(void** from, const ucontext_t& to) {
  if (__builtin_setjmp(from) != 0) return;
  setcontext(&to);
  // The throw also keeps setcontext from being a tail call, which could discard this frame.
  throw std::system_error(errno, std::generic_category(), "entering a new fiber");
}

#undef LAB_UNINSTRUMENTED

}  // namespace

Fiber::Fiber() {
  memory_ = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "fiber stack");
  if (mprotect(memory_, kGuardBytes, PROT_NONE) != 0) {
    const int error = errno;
    munmap(memory_, kGuardBytes + kStackBytes);
    throw std::system_error(error, std::generic_category(), "guard page of a fiber stack");
  }
}

Fiber::~Fiber() {
  if (entered_) {
    ends_ = true;
    resume();
    end_thread(inside_thread_);
  }
  munmap(memory_, kGuardBytes + kStackBytes);
}

void* Fiber::stack() const {
  return static_cast<std::byte*>(memory_) + kGuardBytes;
}

void Fiber::resume() {
  void* fake_stack = nullptr;
  const bool enters = !entered_;
  if (enters) enter();
  begin_switch(&fake_stack, stack(), kStackBytes);
  outside_thread_ = this_thread();
  switch_thread(inside_thread_);
  if (enters) {
    enter_stack(outside_, initial_context_);
  } else {
    swap_stacks(outside_, inside_);
  }
  end_switch(fake_stack, nullptr, nullptr);
}

void Fiber::enter() {
  getcontext(&initial_context_);
  initial_context_.uc_stack.ss_sp = stack();
  initial_context_.uc_stack.ss_size = kStackBytes;
  initial_context_.uc_link = nullptr;
  const auto self = std::bit_cast<std::uint64_t>(this);
  makecontext(&initial_context_, reinterpret_cast<void (*)()>(&Fiber::trampoline), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  inside_thread_ = make_thread();
  entered_ = true;
}

void Fiber::yield() {
  begin_switch(&inside_fake_stack_, outside_stack_, outside_stack_bytes_);
  switch_thread(outside_thread_);
  swap_stacks(inside_, outside_);
  end_switch(inside_fake_stack_, &outside_stack_, &outside_stack_bytes_);
}

void Fiber::trampoline(unsigned high, unsigned low) {
  const std::uint64_t bits = static_cast<std::uint64_t>(high) << 32 | low;
  Fiber* self = nullptr;
  std::memcpy(&self, &bits, sizeof(bits));
  self->run();
}

void Fiber::run() {
  end_switch(nullptr, &outside_stack_, &outside_stack_bytes_);
  while (!ends_) {
    (*entry_)();
    yield();
  }
  begin_switch(nullptr, outside_stack_, outside_stack_bytes_);
  switch_thread(outside_thread_);
  jump(outside_);
}

}  // namespace lab::simt
