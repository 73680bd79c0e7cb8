#pragma once
// The ranks of one launch, over MPI's point-to-point messages, which unlike MPI's collectives can
// be abandoned when a rank fails.
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/run/rank_group.h"
#include "compute/train/ranks/mpi/failure_notices.h"
#include "compute/train/ranks/mpi/messages.h"
#include "compute/train/ranks/mpi/sum_engine.h"
#include "compute/train/ranks/process_watch.h"

namespace lab::mpi {

struct Communicators {
  MPI_Comm data = MPI_COMM_NULL;
  MPI_Comm control = MPI_COMM_NULL;
};

class MpiGroup final : public RankGroup {
 public:
  // Collective. `host_mates`: the other ranks of this host.
  MpiGroup(const Communicators& comms, std::vector<WatchedProcess> host_mates);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const std::vector<std::string>& hosts() const override { return hosts_; }
  void broadcast(std::span<std::byte> bytes, int root, const RankWait& wait) override;
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes,
                                                 const RankWait& wait) override;
  std::unique_ptr<PendingSum> start_sum(std::span<float> values) override;
  void check() override;
  void fail(Errc code, const std::string& message) noexcept override;

  // Begins a new job: leftover messages and failures of the previous one are ignored from now on.
  void begin_round(std::uint32_t round);
  std::uint32_t round() const { return round_; }
  std::optional<Error> failure_elsewhere() const;
  // Throws Error(Network) if a rank of this host has died.
  void check_alive();
  // Throws if a wait must end: on an announced failure, a dead rank, or a stop request.
  void throw_if_over(const RankWait& wait);
  static void throw_if_stopped(const RankWait& wait);
  ProcessWatch& watch() { return watch_; }
  DrainBudget& drain_budget() { return budget_; }
  MPI_Comm control() const { return control_; }

 private:
  class Sum;
  int next_tag(Traffic traffic) { return data_tag(round_, sequence_++, traffic); }
  void finish(RequestSet& requests, const RankWait& wait);
  std::string name_of(int rank) const;

  const MPI_Comm data_, control_;
  const int rank_, size_;
  DrainBudget budget_;
  ProcessWatch watch_;
  FailureNotices failure_notices_;
  SumEngine sums_;
  std::vector<std::string> hosts_;
  std::uint32_t round_ = 0;
  std::uint32_t sequence_ = 0;
  bool announced_ = false;                  // in this round, by this rank
  std::optional<Error> failure_elsewhere_;  // in this round, seen by check()
};

}  // namespace lab::mpi
