#pragma once
// Arrays that stand in for device memory while a kernel runs on the CPU.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace lab::simt {

// Description of one array for launch().
struct ArrayRef {
  std::string name;
  void* begin = nullptr;
  std::size_t bytes = 0;
  std::size_t element_bytes = 1;
  bool read_only = false;
};

// Memory that outlives a launch. Thread-safe.
class MemorySpace {
 public:
  MemorySpace() = default;
  virtual ~MemorySpace() = default;
  MemorySpace(const MemorySpace&) = delete;
  MemorySpace& operator=(const MemorySpace&) = delete;
  // Returns the allocation that contains `pointer` or ends at it. Throws Fault if there is none.
  virtual ArrayRef find(const void* pointer) = 0;
};

// Exactly `count` elements on the heap, aligned as cudaMalloc aligns, so that AddressSanitizer
// detects overruns. All bits are set initially: floating-point elements are NaN.
template <typename T>
class GlobalArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GlobalArray(std::string name, std::size_t count)
      : name_(std::move(name)), count_(count), memory_(allocate(count * sizeof(T))) {
    if (count > 0) std::memset(memory_.get(), 0xff, count * sizeof(T));
  }
  GlobalArray(std::string name, std::span<const T> values)
      : GlobalArray(std::move(name), values.size()) {
    if (count_ > 0) std::memcpy(memory_.get(), values.data(), values.size_bytes());
  }

  T* data() { return static_cast<T*>(memory_.get()); }
  const T* data() const { return static_cast<const T*>(memory_.get()); }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  std::span<const T> values() const { return {data(), count_}; }
  void fill(T value) {
    for (std::size_t i = 0; i < count_; ++i) data()[i] = value;
  }

  // For LaunchOptions::arrays: as an output, and as an input that the kernel must not write.
  operator ArrayRef() { return {name_, memory_.get(), count_ * sizeof(T), sizeof(T), false}; }
  ArrayRef input() { return {name_, memory_.get(), count_ * sizeof(T), sizeof(T), true}; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  static std::unique_ptr<void, Free> allocate(std::size_t bytes) {
    constexpr std::size_t kAlignment = 256;
    void* memory = nullptr;
    if (posix_memalign(&memory, kAlignment, bytes) != 0) throw std::bad_alloc();
    return std::unique_ptr<void, Free>(memory);
  }

  std::string name_;
  std::size_t count_;
  std::unique_ptr<void, Free> memory_;
};

}  // namespace lab::simt
