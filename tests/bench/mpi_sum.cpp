// Measures the all-reduce of a network's gradients over the ranks of mpirun: the lab's, and MPI's
// blocking MPI_Allreduce for comparison. Rank 0 prints one JSON object.
//
//     mpirun -n 2 bench_mpi_sum [FLOATS] [ROUNDS]
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "compute/core/backoff.h"
#include "compute/train/ranks/rank_session.h"

namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Body>
double median_seconds(int rounds, const Body& body) {
  std::vector<double> seconds;
  for (int i = 0; i <= rounds; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = Clock::now();
    body();
    if (i > 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return median(std::move(seconds));
}

}  // namespace

int main(int argc, char** argv) {
  const int floats = argc > 1 ? std::atoi(argv[1]) : 11'175'818;  // the book's ResNet-18
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 15;
  const auto session = lab::open_rank_session();
  lab::RankGroup& ranks = session->ranks();
  if (ranks.single() || floats < 1 || rounds < 1) {
    fmt::print(stderr, "usage: mpirun -n 2 bench_mpi_sum [FLOATS] [ROUNDS]\n");
    return 2;
  }
  std::vector<float> values(static_cast<std::size_t>(floats), 0.5f);
  const double lab_s = median_seconds(rounds, [&] {
    const auto sum = ranks.start_sum(values);
    lab::Backoff backoff;
    while (!sum->test()) backoff.pause();
  });
  const double mpi_s = median_seconds(rounds, [&] {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  });
  if (ranks.rank() == 0) {
    fmt::print("{{\"floats\":{},\"ranks\":{},\"rounds\":{},\"lab_s\":{:.6f},\"mpi_s\":{:.6f}}}\n",
               floats, ranks.size(), rounds, lab_s, mpi_s);
  }
  session->close(0, {});
  return 0;
}
