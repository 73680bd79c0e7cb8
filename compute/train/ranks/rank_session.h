#pragma once
// Belonging to the processes that a launcher such as mpirun has started together: joined first
// thing in main, left last. A process by itself is alone, and MPI stays unused.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/error.h"
#include "compute/run/rank_group.h"

namespace lab {

class RankSession {
 public:
  virtual ~RankSession() = default;

  virtual RankGroup& ranks() = 0;

  // The ranks of this host, this one among them, ascending.
  virtual const std::vector<int>& host_ranks() const = 0;

  // Rank 0, before a job of which the others learn through follow(): sends them `request` and
  // begins a new round, in which failures of earlier jobs are forgotten. Throws Error(Network)
  // when a rank has died.
  virtual void lead(std::string_view request) = 0;
  // The other ranks: waits for the next request, at almost no cost; empty once a rank leaves.
  // Throws Error(Network) when a rank has died, Error(Cancelled) as `wait` says.
  virtual std::optional<std::string> follow(const RankWait& wait) = 0;

  // The failure that another rank announced in this round and this rank has seen.
  virtual std::optional<Error> failure_elsewhere() const = 0;

  // Says goodbye to the other ranks, waits for theirs and leaves MPI. After a `status` of 0 the
  // wait ends with the others, with a failure of one of them, which is returned, or with `wait`;
  // after another status, or a failure, a few seconds are the most. Ranks that do not answer are
  // ended through MPI_Abort, this one with them. To be called last, by main.
  virtual std::optional<Error> close(int status, const RankWait& wait) = 0;
};

// Joins them. Throws Error(Unsupported) where a launcher started several processes and this build,
// or this launcher's kind of MPI, cannot connect them: each would do the whole work by itself.
std::unique_ptr<RankSession> open_rank_session();

// The session of a process by itself.
std::unique_ptr<RankSession> single_session();

// ---- The launcher

// How many processes the launcher started together; 1 where there is none.
int launched_processes();

// How long after SIGCONT Open MPI's mpirun sends SIGTERM when it ends its processes, and how long
// after that SIGKILL.
std::chrono::seconds launcher_notice();

}  // namespace lab
