#pragma once
// Lifetime of MPI, and messages between ranks outside jobs. MPI is used by one thread at a time:
// the main thread before and after jobs, the job's thread in between.
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "compute/train/ranks/mpi/mpi_group.h"
#include "compute/train/ranks/rank_session.h"

namespace lab::mpi {

class MpiSession final : public RankSession {
 public:
  // `expected`: number of processes that the launcher reports. Throws Error(Unsupported) if MPI has
  // joined a different number.
  explicit MpiSession(int expected);

  RankGroup& ranks() override { return *group_; }
  const std::vector<int>& host_ranks() const override { return host_ranks_; }
  void lead(std::string_view request) override;
  std::optional<std::string> follow(const RankWait& wait) override;
  void forget_failures() override { group_->begin_round(group_->round() + 1); }
  std::optional<Error> failure_elsewhere() const override { return group_->failure_elsewhere(); }
  std::optional<Error> close(int status, const RankWait& wait) override;

 private:
  std::vector<WatchedProcess> find_host_mates(MPI_Comm world);
  bool any_rank_leaving() const;
  void send_request(std::uint32_t round, std::string_view request);
  std::optional<Error> say_goodbye(int status, const RankWait& wait, bool& all_answered);

  std::vector<int> host_ranks_;
  std::optional<MpiGroup> group_;
  std::vector<std::byte> request_;
  std::list<RequestSet> sending_;  // at most one: the request in flight
};

}  // namespace lab::mpi
