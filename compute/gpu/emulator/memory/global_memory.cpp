#include "compute/gpu/emulator/memory/global_memory.h"

#include "compute/gpu/emulator/fault.h"

namespace lab::simt {

GlobalRegion::GlobalRegion(const ArrayRef& array, bool one_writer)
    : array_(array),
      one_writer_(one_writer),
      writers_(array.read_only ? 0 : array.bytes / array.element_bytes, kNobody) {}

bool GlobalRegion::holds(const void* pointer) const {
  const auto* begin = static_cast<const std::byte*>(array_.begin);
  const auto* p = static_cast<const std::byte*>(pointer);
  return p >= begin && p <= begin + array_.bytes;
}

std::string GlobalRegion::place(const Access& at) const {
  return array_.name + "[" + std::to_string(at.offset / static_cast<std::ptrdiff_t>(at.element)) +
         "]";
}

void GlobalRegion::check_bounds(const Access& at, const char* what) const {
  if (at.offset < 0 || at.offset + static_cast<std::ptrdiff_t>(at.size) >
                           static_cast<std::ptrdiff_t>(array_.bytes)) {
    throw Fault(FaultKind::OutOfBounds, std::string(what) + " of " + std::to_string(at.size) +
                                            " bytes at " + place(at) + " of " +
                                            std::to_string(array_.bytes / at.element));
  }
}

void GlobalRegion::check_read(const Access& at) const {
  check_bounds(at, "read");
}

void GlobalRegion::check_readonly(const Access& at) const {
  check_bounds(at, "read");
  if (writers_.empty()) return;
  const std::size_t first = static_cast<std::size_t>(at.offset) / array_.element_bytes;
  for (std::size_t i = first; i * array_.element_bytes < at.offset + at.size; ++i) {
    if (writers_[i] == kNobody) continue;
    throw Fault(FaultKind::ReadOnly,
                "load_readonly of " + place(at) + ", which this launch has written");
  }
}

void GlobalRegion::check_write(const Access& at, std::uint32_t thread, bool atomic) {
  check_bounds(at, atomic ? "atomic operation" : "write");
  if (array_.read_only)
    throw Fault(FaultKind::ReadOnly, "write to " + place(at) + ", an input of the launch");
  if (writers_.empty()) return;
  const std::uint32_t me = atomic ? kAtomics : thread + 1;
  const std::size_t first = static_cast<std::size_t>(at.offset) / array_.element_bytes;
  for (std::size_t i = first; i * array_.element_bytes < at.offset + at.size; ++i) {
    const std::uint32_t before = writers_[i];
    if (one_writer_ && before != kNobody && before != me) {
      throw Fault(FaultKind::TwoWriters,
                  std::string(atomic ? "atomic operation on " : "write to ") + place(at) +
                      (before == kAtomics ? ", the target of an earlier atomic operation"
                                          : ", already written by thread " +
                                                std::to_string(before - 1) + " of the launch"));
    }
    writers_[i] = me;
  }
}

GlobalMemory::GlobalMemory(const std::vector<ArrayRef>& arrays, MemorySpace* space, bool one_writer)
    : space_(space) {
  for (const ArrayRef& array : arrays) regions_.emplace_back(array, one_writer);
}

GlobalRegion* GlobalMemory::region(const void* pointer) {
  if (pointer == nullptr) return nullptr;
  if (regions_.empty() && space_ == nullptr) return nullptr;
  GlobalRegion* found = known_region(pointer);
  if (found == nullptr && space_ != nullptr) {
    found = &regions_.emplace_back(space_->find(pointer));
  }
  if (found == nullptr)
    throw Fault(FaultKind::Launch, "global() of a pointer outside the launch's arrays");
  return found;
}

GlobalRegion* GlobalMemory::known_region(const void* pointer) {
  GlobalRegion* found = nullptr;
  for (GlobalRegion& r : regions_) {
    if (!r.holds(pointer)) continue;
    // The end of one array may be the start of the next.
    const bool past = static_cast<const std::byte*>(pointer) ==
                      static_cast<const std::byte*>(r.array().begin) + r.array().bytes;
    if (!past) return &r;
    if (space_ == nullptr) found = &r;
  }
  return found;
}

}  // namespace lab::simt
