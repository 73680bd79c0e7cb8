#pragma once
// Records the last accesses to a few bytes of shared memory and determines whether the next access
// is ordered after them.
//
// Two accesses are ordered if they are made by the same thread, separated by a sync_threads, or
// separated by a sync_warp that both threads take part in. Ordering within a warp is tracked with
// vector clocks.
#include <array>
#include <cstdint>
#include <span>

namespace lab::simt {

constexpr int kWarpLanes = 32;

// Logical time of a thread.
struct ThreadTime {
  int thread = 0;
  std::uint32_t epoch = 1;  // sync_threads passed, plus one
  // Per lane of the warp: the latest instant this thread is ordered after; for itself, the current
  // instant.
  std::array<std::uint32_t, kWarpLanes> seen{};

  int warp() const { return thread / kWarpLanes; }
  int lane() const { return thread % kWarpLanes; }
  std::uint32_t now() const { return seen[static_cast<std::size_t>(lane())]; }
  bool is_after(int other, std::uint32_t instant) const {
    return other == thread || (other / kWarpLanes == warp() &&
                               seen[static_cast<std::size_t>(other % kWarpLanes)] >= instant);
  }
};

// Synchronises these threads, all of one warp, as sync_warp does.
void sync_in_warp(std::span<ThreadTime* const> threads);

enum class ConflictKind { None, Unwritten, CopyUnderWay, AfterWrite, AfterRead };

struct Conflict {
  ConflictKind kind = ConflictKind::None;
  int other = 0;  // the conflicting thread

  explicit operator bool() const { return kind != ConflictKind::None; }
};

// Threads that made accesses of one kind in one epoch, unordered among themselves.
class AccessSet {
 public:
  void add(const ThreadTime& me);
  void clear() { epoch_ = 0; }
  // Returns a thread of the set that `me` is not ordered after, or -1.
  int unordered(const ThreadTime& me) const;

 private:
  std::uint32_t epoch_ = 0;
  std::uint32_t instant_ = 0;  // the earliest of lanes_
  std::uint32_t lanes_ = 0;    // lanes of warp_
  std::int16_t warp_ = 0;
  std::int16_t of_another_warp_ = -1;  // a thread of another warp, or -1
};

class ShadowCell {
 public:
  Conflict read(const ThreadTime& me);
  Conflict write(const ThreadTime& me);
  Conflict atomic(const ThreadTime& me);
  // copy_async: a write whose bytes must not be accessed until `me` has waited.
  Conflict begin_copy(const ThreadTime& me);
  void end_copy(const ThreadTime& me);
  // A write by no thread, ordered before every later access.
  void arrive();

 private:
  Conflict not_readable() const;
  Conflict unordered_write(const ThreadTime& me) const;

  AccessSet reads_;
  AccessSet atomics_;
  std::uint32_t write_epoch_ = 0;
  std::uint32_t write_instant_ = 0;
  std::int16_t writer_ = -1;  // of the last plain write
  std::int16_t copier_ = -1;  // whose copy is pending
};

}  // namespace lab::simt
