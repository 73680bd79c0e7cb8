#pragma once
// The shared memory of one block: its arrays, their readable bytes, and pending copies.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/gpu/emulator/fault.h"
#include "compute/gpu/emulator/memory/shadow.h"

namespace lab::simt {

// Identity of a LAB_SHARED declaration: the tag's address distinguishes declarations.
struct SharedTag {
  const char* name;
};

class SharedArray {
 public:
  // `granule`: the smallest access, in bytes; a power of two. Without `check_races`, only bounds
  // and alignment are checked.
  SharedArray(std::string name, std::size_t bytes, std::size_t granule, bool check_races = true);

  const std::string& name() const { return name_; }
  std::size_t bytes() const { return bytes_; }
  std::size_t granule() const { return std::size_t{1} << granule_bits_; }
  // Sets all bits and marks every byte as unwritten.
  void poison();

  // An access of `size` bytes at `offset` bytes. The address must be a multiple of `alignment`;
  // messages count in elements of `element` bytes.
  struct Access {
    std::ptrdiff_t offset;
    std::size_t size;
    std::size_t alignment;
    std::size_t element;
  };
  void read(const Access& at, void* to, const ThreadTime& me);
  void write(const Access& at, const void* from, const ThreadTime& me);
  // Returns the memory for an atomic operation on it; no other thread runs meanwhile.
  void* atomic(const Access& at, const ThreadTime& me);
  void begin_copy(const Access& at, const ThreadTime& me);
  void end_copy(const Access& at, const void* from, const ThreadTime& me);
  // Data written by the copy engine.
  void arrive(const Access& at, const void* from);

 private:
  void check(const Access& at, const char* what) const;
  [[noreturn]] void refuse(const Access& at, const char* what) const;
  template <typename Step>
  void each_cell(const Access& at, const char* what, const ThreadTime& me, const Step& step);
  [[noreturn]] void report(const Conflict& conflict, std::size_t cell, const Access& at,
                           const char* what, const ThreadTime& me) const;

  std::string name_;
  std::size_t bytes_;
  int granule_bits_;
  std::vector<ShadowCell> cells_;  // one per granule; none without check_races
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
};

class SharedMemory {
 public:
  explicit SharedMemory(std::size_t dynamic_bytes, bool check_races = true)
      : dynamic_bytes_(dynamic_bytes), check_races_(check_races) {}

  // Prepares the next block: every array is poisoned and must be declared again.
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
  bool check_races_;
  std::vector<Declared> arrays_;
  std::unique_ptr<SharedArray> dynamic_;
};

// The asynchronous copies of one thread.
class AsyncCopies {
 public:
  // Copies `valid` bytes of `from`, then zeros, to `at`. Reads `from` immediately.
  void begin(SharedArray& array, const SharedArray::Access& at, const void* from, std::size_t valid,
             const ThreadTime& me);
  void commit();
  // Waits until at most the `pending` newest groups are incomplete.
  void wait(std::size_t pending, const ThreadTime& me);

 private:
  struct Copy {
    SharedArray* array;
    SharedArray::Access at;
    std::byte bytes[16];
  };
  std::vector<Copy> open_;
  std::vector<std::vector<Copy>> groups_;  // oldest first
};

}  // namespace lab::simt
