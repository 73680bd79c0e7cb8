#pragma once
// Failure announcements: sent to every other rank and polled by each.
#include <mpi.h>

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/train/ranks/mpi/messages.h"

namespace lab::mpi {

struct AnnouncedFailure {
  int rank = 0;
  std::uint32_t round = 0;
  Errc code = Errc::Internal;
  std::string message;
};

class FailureNotices {
 public:
  FailureNotices(MPI_Comm comm, int rank, int size, DrainBudget& budget);

  // The message is small enough to be buffered, so no rank needs to be receiving.
  void announce(std::uint32_t round, Errc code, const std::string& message);
  // Returns the first failure of this round that has arrived, or null; never waits.
  const AnnouncedFailure* look(std::uint32_t round);

 private:
  void receive_all();
  const AnnouncedFailure* known(std::uint32_t round) const;

  const MPI_Comm comm_;
  const int rank_, size_;
  DrainBudget& budget_;
  std::list<AnnouncedFailure> known_;
  std::vector<std::byte> sent_;
  std::list<RequestSet> sending_;
};

}  // namespace lab::mpi
