#pragma once
// The global memory of one launch: bounds checks and the writer of each element.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "compute/gpu/emulator/memory/global_array.h"

namespace lab::simt {

// One array of a launch. Offsets are in bytes from its start.
class GlobalRegion {
 public:
  GlobalRegion(const ArrayRef& array, bool one_writer);
  // Without a record of writers.
  explicit GlobalRegion(const ArrayRef& array) : array_(array) {}

  const ArrayRef& array() const { return array_; }
  bool holds(const void* pointer) const;

  struct Access {
    std::ptrdiff_t offset;
    std::size_t size;
    std::size_t element;  // bytes per element, the unit of messages
  };
  void check_read(const Access& at) const;
  // Also checks that no thread of the launch has written there.
  void check_readonly(const Access& at) const;
  void check_write(const Access& at, std::uint32_t thread, bool atomic);

 private:
  void check_bounds(const Access& at, const char* what) const;
  std::string place(const Access& at) const;

  static constexpr std::uint32_t kNobody = 0;
  static constexpr std::uint32_t kAtomics = 0xffffffffU;

  ArrayRef array_;
  bool one_writer_ = false;
  std::vector<std::uint32_t> writers_;  // per element: thread + 1
};

class GlobalMemory {
 public:
  GlobalMemory(const std::vector<ArrayRef>& arrays, MemorySpace* space, bool one_writer);

  // Returns the array that contains `pointer` or ends at it; nullptr for a null pointer, or if the
  // launch has no arrays. Throws Fault for a pointer outside all of them.
  GlobalRegion* region(const void* pointer);

 private:
  GlobalRegion* known_region(const void* pointer);

  std::deque<GlobalRegion> regions_;  // grows as the launch reaches further parts of the space
  MemorySpace* space_;
};

}  // namespace lab::simt
