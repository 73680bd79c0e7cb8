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

#if defined(LAB_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
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
  munmap(memory_, kGuardBytes + kStackBytes);
}

void Fiber::start(const std::function<void()>& entry) {
  entry_ = &entry;
  entered_ = false;
  getcontext(&initial_context_);
  initial_context_.uc_stack.ss_sp = stack();
  initial_context_.uc_stack.ss_size = kStackBytes;
  initial_context_.uc_link = nullptr;
  const auto self = std::bit_cast<std::uint64_t>(this);
  makecontext(&initial_context_, reinterpret_cast<void (*)()>(&Fiber::trampoline), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

void* Fiber::stack() const {
  return static_cast<std::byte*>(memory_) + kGuardBytes;
}

void Fiber::resume() {
  void* fake_stack = nullptr;
  begin_switch(&fake_stack, stack(), kStackBytes);
  if (entered_) {
    swap_stacks(outside_, inside_);
  } else {
    entered_ = true;
    enter_stack(outside_, initial_context_);
  }
  end_switch(fake_stack, nullptr, nullptr);
}

void Fiber::yield() {
  begin_switch(&inside_fake_stack_, outside_stack_, outside_stack_bytes_);
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
  (*entry_)();
  begin_switch(nullptr, outside_stack_, outside_stack_bytes_);
  jump(outside_);
}

}  // namespace lab::simt
