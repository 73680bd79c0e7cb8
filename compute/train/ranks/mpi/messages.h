#pragma once
// MPI point-to-point messages: return codes as exceptions, tags, and owned requests that can be
// abandoned.
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lab::mpi {

// Throws Error(Network) with `what` and MPI's error text if `code` is an error.
void check(int code, const char* what);

// ---- Tags. A round is one job; messages left by an earlier job never match its tags.

enum class Traffic { ReduceScatter, AllGather, Broadcast, Exchange };

// 22 bits, which every MPI allows: 6 for the round, 14 for the sequence number, 2 for the traffic.
inline int data_tag(std::uint32_t round, std::uint32_t sequence, Traffic traffic) {
  return static_cast<int>((round & 0x3f) << 16 | (sequence & 0x3fff) << 2 |
                          static_cast<std::uint32_t>(traffic));
}

// Tags on the control communicator.
enum ControlTag { kFailureTag = 1, kRequestTag = 2, kGoodbyeTag = 3 };

// ---- Requests

// Time limit for abandoning messages, shared by all messages of a group.
class DrainBudget {
 public:
  bool left();

 private:
  std::optional<std::chrono::steady_clock::time_point> end_;
};

// Messages in flight. Their buffers must not be freed while MPI may still access them.
class RequestSet {
 public:
  explicit RequestSet(DrainBudget& budget) : budget_(&budget) {}
  // Abandons incomplete messages: unmatched ones are cancelled; those being transferred get the
  // remaining time of the budget.
  ~RequestSet() { abandon(); }
  RequestSet(RequestSet&& other) noexcept;
  RequestSet(const RequestSet&) = delete;
  RequestSet& operator=(const RequestSet&) = delete;
  RequestSet& operator=(RequestSet&&) = delete;

  // The bytes, at most 2^31 - 1 per message, must stay valid until test() returns true or this
  // object is destroyed.
  void send(std::span<const std::byte> bytes, int to, int tag, MPI_Comm comm);
  void receive(std::span<std::byte> bytes, int from, int tag, MPI_Comm comm);
  void receive(std::span<std::byte> bytes, MPI_Message message);

  // Returns true once all messages are complete; never waits.
  bool test();

 private:
  void abandon() noexcept;

  DrainBudget* budget_;
  std::vector<MPI_Request> sends_, receives_;
};

}  // namespace lab::mpi
