#pragma once
// The global memory of one launch: bounds, and who wrote what.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/simt/global_array.h"

namespace lab::simt {

// One array of a launch. Offsets are in bytes from its beginning.
class GlobalRegion {
 public:
  GlobalRegion(const ArrayRef& array, bool one_writer);

  const ArrayRef& array() const { return array_; }
  bool holds(const void* pointer) const;

  struct Access {
    std::ptrdiff_t offset;
    std::size_t size;
    std::size_t element;  // what messages count in
  };
  void check_read(const Access& at) const;
  // Also: no thread of the launch has written there.
  void check_readonly(const Access& at) const;
  void check_write(const Access& at, std::uint32_t thread, bool atomic);

 private:
  void check_bounds(const Access& at, const char* what) const;
  std::string place(const Access& at) const;

  static constexpr std::uint32_t kNobody = 0;
  static constexpr std::uint32_t kAtomics = 0xffffffffU;

  ArrayRef array_;
  bool one_writer_;
  std::vector<std::uint32_t> writers_;  // of each element: thread + 1
};

class GlobalMemory {
 public:
  GlobalMemory(const std::vector<ArrayRef>& arrays, bool one_writer);

  // The array that `pointer` points into or one past; nullptr for a null pointer and where the
  // launch names no arrays. Throws Fault for a pointer outside all of them.
  GlobalRegion* region(const void* pointer);

 private:
  std::vector<GlobalRegion> regions_;
};

}  // namespace lab::simt
