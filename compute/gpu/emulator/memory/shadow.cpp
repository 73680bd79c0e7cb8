#include "compute/gpu/emulator/memory/shadow.h"

#include <algorithm>
#include <bit>

namespace lab::simt {

// Each thread is ordered after everything that any of them was; then each starts a new instant.
void sync_in_warp(std::span<ThreadTime* const> threads) {
  std::array<std::uint32_t, kWarpLanes> joined{};
  for (const ThreadTime* t : threads) {
    for (std::size_t lane = 0; lane < joined.size(); ++lane)
      joined[lane] = std::max(joined[lane], t->seen[lane]);
  }
  for (ThreadTime* t : threads) {
    t->seen = joined;
    ++t->seen[static_cast<std::size_t>(t->lane())];
  }
}

void AccessSet::add(const ThreadTime& me) {
  const std::uint32_t lane = std::uint32_t{1} << me.lane();
  // Threads ordered after `me` are also ordered after everything `me` is; the earlier accesses can
  // be dropped.
  if (epoch_ != me.epoch || unordered(me) < 0) {
    epoch_ = me.epoch;
    instant_ = me.now();
    lanes_ = lane;
    warp_ = static_cast<std::int16_t>(me.warp());
    of_another_warp_ = -1;
  } else if (warp_ == me.warp()) {
    lanes_ |= lane;
    instant_ = std::min(instant_, me.now());
  } else {
    of_another_warp_ = static_cast<std::int16_t>(me.thread);
  }
}

int AccessSet::unordered(const ThreadTime& me) const {
  if (epoch_ != me.epoch) return -1;
  // If two warps are in the set, at least one is not the caller's.
  if (of_another_warp_ >= 0 && of_another_warp_ / kWarpLanes != me.warp()) return of_another_warp_;
  for (std::uint32_t lanes = lanes_; lanes != 0; lanes &= lanes - 1) {
    const int other = warp_ * kWarpLanes + std::countr_zero(lanes);
    if (!me.is_after(other, instant_)) return other;
  }
  return -1;
}

Conflict ShadowCell::not_readable() const {
  if (copier_ >= 0) return {ConflictKind::CopyUnderWay, copier_};
  if (writer_ < 0) return {ConflictKind::Unwritten, 0};
  return {};
}

// Returns the conflict with the last plain write. No thread is ever in epoch 0.
Conflict ShadowCell::unordered_write(const ThreadTime& me) const {
  if (write_epoch_ != me.epoch || me.is_after(writer_, write_instant_)) return {};
  return {ConflictKind::AfterWrite, writer_};
}

Conflict ShadowCell::read(const ThreadTime& me) {
  if (const Conflict c = not_readable()) return c;
  if (const Conflict c = unordered_write(me)) return c;
  if (const int other = atomics_.unordered(me); other >= 0)
    return {ConflictKind::AfterWrite, other};
  reads_.add(me);
  return {};
}

Conflict ShadowCell::write(const ThreadTime& me) {
  if (copier_ >= 0) return {ConflictKind::CopyUnderWay, copier_};
  if (const Conflict c = unordered_write(me)) return c;
  if (const int other = atomics_.unordered(me); other >= 0)
    return {ConflictKind::AfterWrite, other};
  if (const int other = reads_.unordered(me); other >= 0) return {ConflictKind::AfterRead, other};
  writer_ = static_cast<std::int16_t>(me.thread);
  write_epoch_ = me.epoch;
  write_instant_ = me.now();
  reads_.clear();
  atomics_.clear();
  return {};
}

Conflict ShadowCell::atomic(const ThreadTime& me) {
  if (const Conflict c = not_readable()) return c;
  if (const Conflict c = unordered_write(me)) return c;
  if (const int other = reads_.unordered(me); other >= 0) return {ConflictKind::AfterRead, other};
  atomics_.add(me);
  return {};
}

Conflict ShadowCell::begin_copy(const ThreadTime& me) {
  if (const Conflict c = write(me)) return c;
  copier_ = static_cast<std::int16_t>(me.thread);
  return {};
}

void ShadowCell::arrive() {
  *this = ShadowCell();
  writer_ = 0;
}

void ShadowCell::end_copy(const ThreadTime& me) {
  copier_ = -1;
  write_epoch_ = me.epoch;
  write_instant_ = me.now();
}

}  // namespace lab::simt
