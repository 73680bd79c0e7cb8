#pragma once
// Membership in the group of processes started by a launcher such as mpirun: joined at the start of
// main, left at its end. A process started without a launcher is a group of one and does not use
// MPI.
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

  // The ranks of this host, including this one, ascending.
  virtual const std::vector<int>& host_ranks() const = 0;

  // Rank 0: sends `request` to the ranks waiting in follow() before a job and begins a new round,
  // in which failures of earlier jobs are forgotten. Throws Error(Network) if a rank has died.
  virtual void lead(std::string_view request) = 0;
  // Other ranks: waits for the next request at almost no cost; returns empty once a rank leaves.
  // Throws Error(Network) if a rank has died, Error(Cancelled) as `wait` requests.
  virtual std::optional<std::string> follow(const RankWait& wait) = 0;

  // Rank 0, after jobs whose failures it has shown: a later close() does not return them.
  virtual void forget_failures() = 0;

  // The failure that another rank announced in this round, if this rank has seen it.
  virtual std::optional<Error> failure_elsewhere() const = 0;

  // Exchanges goodbyes with the other ranks and finalizes MPI. After a `status` of 0, the wait ends
  // when all have answered, when one fails (its failure is returned), or as `wait` requests; after
  // another status or a failure it lasts a few seconds at most. If ranks do not answer, MPI_Abort
  // ends them and this process. Must be the last call, from main.
  virtual std::optional<Error> close(int status, const RankWait& wait) = 0;
};

// Joins the group. Throws Error(Unsupported) if a launcher started several processes that this
// build, or this launcher's kind of MPI, cannot connect: each would do the whole work by itself.
std::unique_ptr<RankSession> open_rank_session();

// The session of a single process.
std::unique_ptr<RankSession> single_session();

// ---- The launcher

// Number of processes that the launcher started together; 1 without a launcher.
int launched_processes();

// Time from SIGCONT to SIGTERM, and from SIGTERM to SIGKILL, when Open MPI's mpirun ends its
// processes.
std::chrono::seconds launcher_grace_period();

}  // namespace lab
