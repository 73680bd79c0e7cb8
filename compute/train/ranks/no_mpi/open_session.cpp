#include <fmt/format.h>

#include "compute/core/language.h"
#include "compute/train/ranks/rank_session.h"

namespace lab {

std::unique_ptr<RankSession> open_rank_session() {
  if (const int processes = launched_processes(); processes > 1) {
    throw Error(Errc::Unsupported,
                trf("started as one of {} processes, but this build has no MPI support "
                    "(LAB_MPI=OFF, or MPI was not found when it was configured); start it "
                    "without mpirun, or install libopenmpi-dev and rebuild",
                    processes));
  }
  return single_session();
}

}  // namespace lab
