#include "compute/gpu/emulator/fiber.h"

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "compute/core/sanitizers.h"

#if defined(LAB_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(LAB_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace lab::simt {
namespace {

constexpr std::size_t kGuardBytes = std::size_t{64} << 10;  // the largest page size of ARM kernels
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

// ThreadSanitizer treats a fiber as a thread of its own that the switch synchronises with. Inlined,
// because a call that returns in another thread than it was made in upsets the counts of both.
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
[[gnu::always_inline]] inline void switch_thread(void* to) {
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
// of a stack. These functions are not instrumented for the latter reason, and because
// ThreadSanitizer counts calls and returns, which do not match here.
#if defined(__clang__)  // its no_sanitize_thread leaves the count of calls
#define LAB_UNINSTRUMENTED \
  [[gnu::noinline, gnu::no_sanitize_address, clang::disable_sanitizer_instrumentation]]
#else
#define LAB_UNINSTRUMENTED [[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_thread]]
#endif

#if defined(__aarch64__)

// Clang has no __builtin_setjmp for AArch64. A context is x29, the address to continue at and sp;
// as every other register counts as overwritten, the compiler saves those that a function must
// preserve. x16 and "bti j" allow the jump where branch targets are protected. A function entered
// this way receives `from` and `to` as its arguments.
LAB_UNINSTRUMENTED void swap_stacks(void** from, void** to) {
  register void** x0 asm("x0") = from;
  register void** x1 asm("x1") = to;
  asm volatile(
      "adr x16, 1f\n"
      "mov x2, sp\n"
      "stp x29, x16, [x0]\n"
      "str x2, [x0, #16]\n"
      "ldp x29, x16, [x1]\n"
      "ldr x2, [x1, #16]\n"
      "mov sp, x2\n"
      "br x16\n"
      "1: hint #36\n"  // bti j
      : "+r"(x0), "+r"(x1)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
        "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",
        "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
        "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
}

LAB_UNINSTRUMENTED void jump(void** to) {
  void* nowhere[3];
  swap_stacks(nowhere, to);
}

#else

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

#endif

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
#if defined(__aarch64__)
  swap_stacks(outside_, inside_);
#else
  if (enters) {
    enter_stack(outside_, initial_context_);
  } else {
    swap_stacks(outside_, inside_);
  }
#endif
  end_switch(fake_stack, nullptr, nullptr);
}

void Fiber::yield() {
  begin_switch(&inside_fake_stack_, outside_stack_, outside_stack_bytes_);
  switch_thread(outside_thread_);
  swap_stacks(inside_, outside_);
  end_switch(inside_fake_stack_, &outside_stack_, &outside_stack_bytes_);
}

#if defined(__aarch64__)

void Fiber::enter() {
  inside_[0] = nullptr;  // the end of the chain of frames
  inside_[1] = reinterpret_cast<void*>(&Fiber::trampoline);
  inside_[2] = static_cast<std::byte*>(stack()) + kStackBytes;
  inside_[3] = this;
  inside_thread_ = make_thread();
  entered_ = true;
}

void Fiber::trampoline(void** /*outside*/, void** inside) {
  static_cast<Fiber*>(inside[3])->run();
}

#else

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

void Fiber::trampoline(unsigned high, unsigned low) {
  const std::uint64_t bits = static_cast<std::uint64_t>(high) << 32 | low;
  Fiber* self = nullptr;
  std::memcpy(&self, &bits, sizeof(bits));
  self->run();
}

#endif

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
