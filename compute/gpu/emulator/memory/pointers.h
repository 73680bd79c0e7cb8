#pragma once
// SharedPtr and GlobalPtr of the kernel vocabulary: pointers that check every access.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compute/gpu/emulator/memory/element_ref.h"
#include "compute/gpu/emulator/memory/global_memory.h"
#include "compute/gpu/emulator/memory/shared_memory.h"

namespace lab::simt {

// Accesses by the running thread, called by the pointers below.
namespace access {
void shared_read(SharedArray& array, const SharedArray::Access& at, void* to);
void shared_write(SharedArray& array, const SharedArray::Access& at, const void* from);
void* shared_atomic(SharedArray& array, const SharedArray::Access& at);
void shared_copy(SharedArray& array, const SharedArray::Access& at, const void* from,
                 std::size_t valid);
[[noreturn]] void no_array();

enum class GlobalUse { Read, ReadOnly, Write, Atomic };
// Throws Fault unless the running thread may make this access. If `region` is null, only the
// pointer and its alignment are checked.
void global(GlobalRegion* region, const void* pointer, std::ptrdiff_t byte_offset, std::size_t size,
            std::size_t element, GlobalUse use);
// Checks the source of a copy_async of `size` bytes, of which `valid` are read.
void check_copy(GlobalRegion* region, const void* pointer, std::ptrdiff_t byte_offset, int size,
                int valid, std::size_t element);
GlobalRegion* region_of(const void* pointer);
}  // namespace access

template <typename T>
class SharedPtr : public PointerArithmetic<SharedPtr<T>, T> {
 public:
  using Value = std::remove_const_t<T>;

  SharedPtr() = default;
  SharedPtr(SharedArray* array, std::ptrdiff_t byte_offset) : array_(array), offset_(byte_offset) {}
  template <typename U>
  requires std::is_same_v<const U, T> SharedPtr(const SharedPtr<U>& other)
      : array_(other.array()), offset_(other.byte_offset()) {}

  SharedArray* array() const { return array_; }
  std::ptrdiff_t byte_offset() const { return offset_; }
  SharedPtr moved(std::ptrdiff_t n) const {
    return {array_, offset_ + n * static_cast<std::ptrdiff_t>(sizeof(T))};
  }
  bool operator==(const SharedPtr& other) const = default;

  template <typename V>
  V read() const {
    static_assert(std::has_single_bit(sizeof(V)));
    V value;
    access::shared_read(here(), at(sizeof(V)), &value);
    return value;
  }
  template <typename V>
  void write(const V& value) const {
    static_assert(!std::is_const_v<T> && std::has_single_bit(sizeof(V)));
    access::shared_write(here(), at(sizeof(V)), &value);
  }
  Value* atomic() const { return static_cast<T*>(access::shared_atomic(here(), at(sizeof(T)))); }
  Value get() const { return read<Value>(); }
  void set(Value value) const { write(value); }
  SharedArray::Access at(std::size_t size) const { return {offset_, size, size, sizeof(T)}; }
  SharedArray& here() const {
    if (array_ == nullptr) access::no_array();
    return *array_;
  }

 private:
  SharedArray* array_ = nullptr;
  std::ptrdiff_t offset_ = 0;
};

template <typename T>
class GlobalPtr : public PointerArithmetic<GlobalPtr<T>, T> {
 public:
  using Value = std::remove_const_t<T>;

  GlobalPtr() = default;
  GlobalPtr(GlobalRegion* region, T* pointer, std::ptrdiff_t index)
      : region_(region), pointer_(pointer), index_(index) {}
  template <typename U>
  requires std::is_same_v<const U, T> GlobalPtr(const GlobalPtr<U>& other)
      : region_(other.region()), pointer_(other.pointer()), index_(other.index()) {}

  GlobalRegion* region() const { return region_; }
  T* pointer() const { return pointer_; }
  std::ptrdiff_t index() const { return index_; }
  GlobalPtr moved(std::ptrdiff_t n) const { return {region_, pointer_, index_ + n}; }
  bool operator==(const GlobalPtr& other) const = default;
  bool operator==(std::nullptr_t) const { return pointer_ == nullptr; }
  explicit operator bool() const { return pointer_ != nullptr; }

  template <typename V>
  V read(access::GlobalUse use = access::GlobalUse::Read) const {
    V value;
    __builtin_memcpy(&value, checked(sizeof(V), use), sizeof(V));
    return value;
  }
  template <typename V>
  void write(const V& value) const {
    __builtin_memcpy(checked(sizeof(V), access::GlobalUse::Write), &value, sizeof(V));
  }
  Value* atomic() const { return checked(sizeof(T), access::GlobalUse::Atomic); }
  Value get() const { return read<Value>(); }
  void set(Value value) const { write(value); }
  // Returns the plain address after checking an access of `size` bytes there.
  T* checked(std::size_t size, access::GlobalUse use) const {
    access::global(region_, pointer_, index_ * static_cast<std::ptrdiff_t>(sizeof(T)), size,
                   sizeof(T), use);
    return pointer_ + index_;
  }

 private:
  GlobalRegion* region_ = nullptr;
  T* pointer_ = nullptr;
  std::ptrdiff_t index_ = 0;
};

}  // namespace lab::simt
