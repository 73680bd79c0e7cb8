#include "compute/gpu/emulator/memory/pointers.h"

#include "compute/gpu/emulator/block.h"

namespace lab::simt::access {

void shared_read(SharedArray& array, const SharedArray::Access& at, void* to) {
  array.read(at, to, current_block().self().time);
}

void shared_write(SharedArray& array, const SharedArray::Access& at, const void* from) {
  array.write(at, from, current_block().self().time);
}

void* shared_atomic(SharedArray& array, const SharedArray::Access& at) {
  return array.atomic(at, current_block().self().time);
}

void shared_copy(SharedArray& array, const SharedArray::Access& at, const void* from,
                 std::size_t valid) {
  SimtThread& me = current_block().self();
  me.copies.begin(array, at, from, valid, me.time);
}

void no_array() {
  throw Fault(FaultKind::OutOfBounds, "use of a SharedPtr that points to no array");
}

namespace {

void check_alignment(const GlobalRegion* region, const void* pointer, std::ptrdiff_t byte_offset,
                     std::size_t size) {
  const auto address =
      reinterpret_cast<std::uintptr_t>(pointer) + static_cast<std::uintptr_t>(byte_offset);
  if (address % size == 0) return;
  const std::string name = region != nullptr ? region->array().name : "global memory";
  throw Fault(FaultKind::Misaligned, "access of " + std::to_string(size) + " bytes to " + name +
                                         ", " + std::to_string(address % size) +
                                         " bytes past an address aligned to " +
                                         std::to_string(size) + " bytes");
}

void check_bounds(GlobalRegion* region, const void* pointer, std::ptrdiff_t byte_offset,
                  std::size_t size, std::size_t element, GlobalUse use) {
  if (pointer == nullptr)
    throw Fault(FaultKind::OutOfBounds, "use of global memory through a null pointer");
  if (region == nullptr) return;
  const auto* begin = static_cast<const std::byte*>(region->array().begin);
  const std::ptrdiff_t start = static_cast<const std::byte*>(pointer) - begin;
  const GlobalRegion::Access at{start + byte_offset, size, element};
  switch (use) {
    case GlobalUse::Read: return region->check_read(at);
    case GlobalUse::ReadOnly: return region->check_readonly(at);
    case GlobalUse::Write:
    case GlobalUse::Atomic:
      return region->check_write(at, current_block().thread_of_launch(), use == GlobalUse::Atomic);
  }
}

}  // namespace

void global(GlobalRegion* region, const void* pointer, std::ptrdiff_t byte_offset, std::size_t size,
            std::size_t element, GlobalUse use) {
  check_bounds(region, pointer, byte_offset, size, element, use);
  check_alignment(region, pointer, byte_offset, size);
}

void check_copy(GlobalRegion* region, const void* pointer, std::ptrdiff_t byte_offset, int size,
                int valid, std::size_t element) {
  if (valid < 0 || valid > size) {
    throw Fault(FaultKind::OutOfBounds, "copy_async of " + std::to_string(size) + " bytes with " +
                                            std::to_string(valid) + " of them valid");
  }
  if (valid == 0) return;
  check_alignment(region, pointer, byte_offset, static_cast<std::size_t>(size));
  check_bounds(region, pointer, byte_offset, static_cast<std::size_t>(valid), element,
               GlobalUse::Read);
}

GlobalRegion* region_of(const void* pointer) {
  return current_block().global().region(pointer);
}

}  // namespace lab::simt::access
