#include <fmt/format.h>

#include "compute/train/ranks/rank_session.h"

namespace lab {

std::unique_ptr<RankSession> open_rank_session() {
  if (const int processes = launched_processes(); processes > 1) {
    throw Error(Errc::Unsupported,
                fmt::format("started as one of {} processes, but this build left MPI out "
                            "(LAB_MPI=OFF, or MPI was not found when it was configured); start it "
                            "without mpirun, or build it with the package libopenmpi-dev",
                            processes));
  }
  return single_session();
}

}  // namespace lab
