#pragma once
// Messages on their way, owned: the buffers are not let go while MPI may still touch them.
#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lab::mpi {

// How long giving up may take, all abandoned messages of a group together.
class DrainBudget {
 public:
  bool left();

 private:
  std::optional<std::chrono::steady_clock::time_point> end_;
};

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
