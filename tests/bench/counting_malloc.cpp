// Replaces the C library's allocation functions with counting versions, for this program and all
// shared libraries it loads. Requires glibc, which exports its own versions as __libc_*.
#include "tests/bench/counting_malloc.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): glibc's names
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace {
std::atomic<long> allocations = 0;
}

namespace lab::bench {

long allocation_count() {
  return allocations;
}

}  // namespace lab::bench

extern "C" {

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  ++allocations;
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}
}
