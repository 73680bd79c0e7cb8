#pragma once
// The shared memory of one block: its arrays, what may be read of them, and copies under way.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/simt/fault.h"
#include "tests/support/simt/shadow.h"

namespace lab::simt {

// A name for LAB_SHARED: its address tells one declaration from another.
struct SharedTag {
  const char* name;
};

class SharedArray {
 public:
  // `granule`: the smallest access, in bytes.
  SharedArray(std::string name, std::size_t bytes, std::size_t granule);

  const std::string& name() const { return name_; }
  std::size_t bytes() const { return bytes_; }
  std::size_t granule() const { return granule_; }
  // All bits set, and nothing counts as written.
  void poison();

  // An access of `size` bytes at `offset` bytes, by the thread of `me`. The address is to be a
  // multiple of `alignment`; messages count in elements of `element` bytes.
  struct Access {
    std::ptrdiff_t offset;
    std::size_t size;
    std::size_t alignment;
    std::size_t element;
  };
  void read(const Access& at, void* to, const ThreadTime& me);
  void write(const Access& at, const void* from, const ThreadTime& me);
  // The memory itself, for an atomic operation on it; nothing else runs meanwhile.
  void* atomic(const Access& at, const ThreadTime& me);
  void begin_copy(const Access& at, const ThreadTime& me);
  void end_copy(const Access& at, const void* from, const ThreadTime& me);

 private:
  void check(const Access& at, const char* what) const;
  template <typename Step>
  void each_cell(const Access& at, const char* what, const ThreadTime& me, const Step& step);
  [[noreturn]] void report(const Conflict& conflict, std::size_t cell, const Access& at,
                           const char* what, const ThreadTime& me) const;

  std::string name_;
  std::size_t bytes_;
  std::size_t granule_;
  std::vector<ShadowCell> cells_;
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
};

class SharedMemory {
 public:
  explicit SharedMemory(std::size_t dynamic_bytes) : dynamic_bytes_(dynamic_bytes) {}

  // For the next block: every array is poisoned and must be declared again.
  void begin_block();
  SharedArray& array(const SharedTag& tag, std::size_t bytes, std::size_t element_bytes);
  SharedArray& dynamic_array(const char* name, std::size_t element_bytes);

 private:
  struct Declared {
    const SharedTag* tag;
    bool in_this_block;
    std::unique_ptr<SharedArray> array;
  };
  void check_total() const;

  std::size_t dynamic_bytes_;
  std::vector<Declared> arrays_;
  std::unique_ptr<SharedArray> dynamic_;
};

// The copies that one thread has begun.
class AsyncCopies {
 public:
  // `valid` bytes of `from`, then zeros, to `at`. Reads `from` now.
  void begin(SharedArray& array, const SharedArray::Access& at, const void* from, std::size_t valid,
             const ThreadTime& me);
  void commit();
  // Until at most the `pending` newest groups are under way.
  void wait(std::size_t pending, const ThreadTime& me);

 private:
  struct Copy {
    SharedArray* array;
    SharedArray::Access at;
    std::byte bytes[16];
  };
  std::vector<Copy> open_;
  std::vector<std::vector<Copy>> groups_;  // the oldest first
};

}  // namespace lab::simt
