#pragma once
// Point-to-point messages of MPI: its return values as exceptions, tags, and requests that are
// owned and can be given up.
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lab::mpi {

// Throws Error(Network) that names `what` and says what MPI says.
void check(int code, const char* what);

// ---- Tags. A round is one job: messages that an earlier job left are never mistaken for its own.

enum class Traffic { ReduceScatter, AllGather, Broadcast, Exchange };

// 22 bits, which every MPI allows: 6 of the round, 14 of the sequence number, 2 of the traffic.
inline int data_tag(std::uint32_t round, std::uint32_t sequence, Traffic traffic) {
  return static_cast<int>((round & 0x3f) << 16 | (sequence & 0x3fff) << 2 |
                          static_cast<std::uint32_t>(traffic));
}

// On a communicator of their own.
enum ControlTag { kFailureTag = 1, kRequestTag = 2, kGoodbyeTag = 3 };

// ---- Requests

// How long giving up may take, all abandoned messages of a group together.
class DrainBudget {
 public:
  bool left();

 private:
  std::optional<std::chrono::steady_clock::time_point> end_;
};

// Messages on their way, owned: the buffers are not let go while MPI may still touch them.
class RequestSet {
 public:
  explicit RequestSet(DrainBudget& budget) : budget_(&budget) {}
  // Messages that are not through are given up: what was not matched is cancelled, what is being
  // transferred gets the time that the budget has left.
  ~RequestSet() { abandon(); }
  RequestSet(RequestSet&& other) noexcept;
  RequestSet(const RequestSet&) = delete;
  RequestSet& operator=(const RequestSet&) = delete;
  RequestSet& operator=(RequestSet&&) = delete;

  // The bytes must stay until test() says true, or until this object is gone. At most 2^31 - 1.
  void send(std::span<const std::byte> bytes, int to, int tag, MPI_Comm comm);
  void receive(std::span<std::byte> bytes, int from, int tag, MPI_Comm comm);
  void receive(std::span<std::byte> bytes, MPI_Message message);

  // True once all are through; never waits.
  bool test();

 private:
  void abandon() noexcept;

  DrainBudget* budget_;
  std::vector<MPI_Request> sends_, receives_;
};

}  // namespace lab::mpi
