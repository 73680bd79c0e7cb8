// Counts allocations: through the sanitizer's hooks under GCC's AddressSanitizer, so that it still
// detects mismatched new and delete, otherwise by replacing operator new and delete. The runtime of
// Clang's ThreadSanitizer defines these itself: there nothing is counted. This is a separate
// translation unit because GCC reports mismatched malloc/free pairs when it can inline the
// replacements.
#include "tests/support/counting_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "compute/core/sanitizers.h"

#if defined(__SANITIZE_ADDRESS__)
// Declared by the sanitizer's runtime library; GCC does not install the header.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));
#endif

namespace {
std::atomic<long> allocations = 0;
}

namespace lab::test {

long allocation_count() {
  return allocations;
}

}  // namespace lab::test

#if defined(__SANITIZE_ADDRESS__)
namespace {
void count(const volatile void*, std::size_t) {
  ++allocations;
}
void ignore(const volatile void*) {}
[[maybe_unused]] const int installed = __sanitizer_install_malloc_and_free_hooks(count, ignore);
}  // namespace
#elif !defined(LAB_THREAD_SANITIZER)
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  if (void* p = operator new(size, std::nothrow)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
#endif
