#include "compute/gpu/emulator/memory/shared_memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace lab::simt {
namespace {

constexpr std::size_t kArrayAlignment = 128;
constexpr std::size_t kMaxStaticBytes = std::size_t{48} << 10;  // limit of ptxas
constexpr std::size_t kMaxBytes = std::size_t{227} << 10;       // limit per block on sm_90
constexpr std::size_t kMaxGranule = 4;

std::size_t rounded_up(std::size_t n, std::size_t step) {
  return (n + step - 1) / step * step;
}

}  // namespace

void SharedArray::Free::operator()(void* memory) const {
  std::free(memory);
}

SharedArray::SharedArray(std::string name, std::size_t bytes, std::size_t granule, bool check_races)
    : name_(std::move(name)),
      bytes_(bytes),
      granule_bits_(std::countr_zero(granule)),
      cells_(check_races ? bytes / granule : 0) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kArrayAlignment, std::max<std::size_t>(bytes, 1)) != 0)
    throw std::bad_alloc();
  memory_.reset(static_cast<std::byte*>(memory));
  poison();
}

void SharedArray::poison() {
  std::memset(memory_.get(), 0xff, bytes_);
  std::fill(cells_.begin(), cells_.end(), ShadowCell());
}

void SharedArray::check(const Access& at, const char* what) const {
  const bool inside = at.offset >= 0 && at.offset + static_cast<std::ptrdiff_t>(at.size) <=
                                            static_cast<std::ptrdiff_t>(bytes_);
  const auto address = static_cast<std::size_t>(at.offset);
  // Both are powers of two; a division would take most of an access's time.
  const bool aligned = (address & (at.alignment - 1)) == 0;
  const bool whole_cells = (at.size & (granule() - 1)) == 0;
  if (!inside || !aligned || !whole_cells) refuse(at, what);
}

void SharedArray::refuse(const Access& at, const char* what) const {
  const auto element = static_cast<std::ptrdiff_t>(at.element);
  const std::string access = std::string(what) + " of " + std::to_string(at.size) + " bytes at " +
                             name_ + "[" + std::to_string(at.offset / element) + "]";
  if (at.offset < 0 ||
      at.offset + static_cast<std::ptrdiff_t>(at.size) > static_cast<std::ptrdiff_t>(bytes_)) {
    throw Fault(FaultKind::OutOfBounds, access + " of " + std::to_string(bytes_ / at.element));
  }
  if (static_cast<std::size_t>(at.offset) % at.alignment != 0) {
    throw Fault(FaultKind::Misaligned, access + ", byte " + std::to_string(at.offset) +
                                           " of the array; needs a multiple of " +
                                           std::to_string(at.alignment));
  }
  throw Fault(FaultKind::Launch, name_ + " was declared with elements of " +
                                     std::to_string(granule()) +
                                     " bytes and is accessed with smaller ones; declare it with "
                                     "the smallest");
}

template <typename Step>
void SharedArray::each_cell(const Access& at, const char* what, const ThreadTime& me,
                            const Step& step) {
  check(at, what);
  if (cells_.empty()) return;
  const std::size_t first = static_cast<std::size_t>(at.offset) >> granule_bits_;
  const std::size_t end = first + (at.size >> granule_bits_);
  for (std::size_t cell = first; cell < end; ++cell) {
    const Conflict conflict = step(cells_[cell]);
    if (conflict) report(conflict, cell, at, what, me);
  }
}

void SharedArray::report(const Conflict& conflict, std::size_t cell, const Access& at,
                         const char* what, const ThreadTime& me) const {
  const std::string access = std::string(what) + " of " + name_ + "[" +
                             std::to_string(cell * granule() / at.element) + "]";
  const std::string other = "thread " + std::to_string(conflict.other);
  const char* barrier = conflict.other / kWarpLanes == me.warp()
                            ? " without sync_threads or sync_warp in between"
                            : " without sync_threads in between";
  switch (conflict.kind) {
    case ConflictKind::None: break;
    case ConflictKind::Unwritten:
      throw Fault(FaultKind::Unwritten, access + ", which no thread has written");
    case ConflictKind::CopyUnderWay:
      throw Fault(FaultKind::CopyNotWaited,
                  access + " while the copy_async of " + other + " to it is pending: no copy_wait");
    case ConflictKind::AfterWrite:
      throw Fault(FaultKind::Race, access + " after a write by " + other + barrier);
    case ConflictKind::AfterRead:
      throw Fault(FaultKind::Race, access + " after a read by " + other + barrier);
  }
  throw Fault(FaultKind::Race, access);
}

void SharedArray::read(const Access& at, void* to, const ThreadTime& me) {
  each_cell(at, "read", me, [&](ShadowCell& cell) { return cell.read(me); });
  std::memcpy(to, memory_.get() + at.offset, at.size);
}

void SharedArray::write(const Access& at, const void* from, const ThreadTime& me) {
  each_cell(at, "write", me, [&](ShadowCell& cell) { return cell.write(me); });
  std::memcpy(memory_.get() + at.offset, from, at.size);
}

void* SharedArray::atomic(const Access& at, const ThreadTime& me) {
  each_cell(at, "atomic operation", me, [&](ShadowCell& cell) { return cell.atomic(me); });
  return memory_.get() + at.offset;
}

void SharedArray::begin_copy(const Access& at, const ThreadTime& me) {
  each_cell(at, "copy_async", me, [&](ShadowCell& cell) { return cell.begin_copy(me); });
}

void SharedArray::end_copy(const Access& at, const void* from, const ThreadTime& me) {
  each_cell(at, "copy_async", me, [&](ShadowCell& cell) {
    cell.end_copy(me);
    return Conflict();
  });
  std::memcpy(memory_.get() + at.offset, from, at.size);
}

void SharedArray::arrive(const Access& at, const void* from) {
  const ThreadTime nobody{};
  each_cell(at, "copy", nobody, [&](ShadowCell& cell) {
    cell.arrive();
    return Conflict();
  });
  std::memcpy(memory_.get() + at.offset, from, at.size);
}

void SharedMemory::begin_block() {
  for (Declared& d : arrays_) d.in_this_block = false;
  if (dynamic_) dynamic_->poison();
}

SharedArray& SharedMemory::array(const SharedTag& tag, std::size_t bytes,
                                 std::size_t element_bytes) {
  for (Declared& d : arrays_) {
    if (d.tag != &tag) continue;
    if (!d.in_this_block) d.array->poison();
    d.in_this_block = true;
    return *d.array;
  }
  const std::size_t granule = std::min(element_bytes, kMaxGranule);
  arrays_.push_back(
      {&tag, true, std::make_unique<SharedArray>(tag.name, bytes, granule, check_races_)});
  check_total();
  return *arrays_.back().array;
}

SharedArray& SharedMemory::dynamic_array(const char* name, std::size_t element_bytes) {
  const std::size_t granule = std::min(element_bytes, kMaxGranule);
  if (!dynamic_) {
    const std::size_t bytes = dynamic_bytes_ / granule * granule;
    dynamic_ = std::make_unique<SharedArray>(name, bytes, granule, check_races_);
    check_total();
  }
  if (granule < dynamic_->granule()) {
    throw Fault(FaultKind::Launch, std::string(name) +
                                       ": dynamic shared memory was first declared with elements "
                                       "of " +
                                       std::to_string(dynamic_->granule()) +
                                       " bytes; declare the smallest first");
  }
  return *dynamic_;
}

void SharedMemory::check_total() const {
  std::size_t fixed = 0;
  for (const Declared& d : arrays_) fixed += rounded_up(d.array->bytes(), 16);
  if (fixed > kMaxStaticBytes) {
    throw Fault(FaultKind::Launch, "the kernel declares " + std::to_string(fixed) +
                                       " bytes of static shared memory; the limit is " +
                                       std::to_string(kMaxStaticBytes) +
                                       ": use LAB_DYNAMIC_SHARED");
  }
  if (fixed + dynamic_bytes_ > kMaxBytes) {
    throw Fault(FaultKind::Launch, "the block needs " + std::to_string(fixed + dynamic_bytes_) +
                                       " bytes of shared memory; sm_90 has " +
                                       std::to_string(kMaxBytes));
  }
}

void AsyncCopies::begin(SharedArray& array, const SharedArray::Access& at, const void* from,
                        std::size_t valid, const ThreadTime& me) {
  array.begin_copy(at, me);
  Copy copy{&array, at, {}};
  if (valid > 0) std::memcpy(copy.bytes, from, valid);
  open_.push_back(copy);
}

void AsyncCopies::commit() {
  groups_.push_back(std::move(open_));
  open_.clear();
}

void AsyncCopies::wait(std::size_t pending, const ThreadTime& me) {
  if (groups_.size() <= pending) return;
  const auto done = groups_.end() - static_cast<std::ptrdiff_t>(pending);
  for (auto group = groups_.begin(); group != done; ++group) {
    for (const Copy& copy : *group) copy.array->end_copy(copy.at, copy.bytes, me);
  }
  groups_.erase(groups_.begin(), done);
}

}  // namespace lab::simt
