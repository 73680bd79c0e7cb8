#pragma once
// What tells messages apart. A round is one job: what an earlier one left behind is never taken for
// a message of this one.
#include <cstdint>

namespace lab::mpi {

enum class Traffic { ReduceScatter, AllGather, Broadcast, Exchange };

// 22 bits, which every MPI allows: 6 of the round, 14 of the sequence number, 2 of the traffic.
inline int data_tag(std::uint32_t round, std::uint32_t sequence, Traffic traffic) {
  return static_cast<int>((round & 0x3f) << 16 | (sequence & 0x3fff) << 2 |
                          static_cast<std::uint32_t>(traffic));
}

// On a communicator of their own.
enum ControlTag { kFailureTag = 1, kRequestTag = 2, kGoodbyeTag = 3 };

}  // namespace lab::mpi
