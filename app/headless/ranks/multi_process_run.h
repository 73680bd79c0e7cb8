#pragma once
// Runs one command line in several processes: assigns their roles and decides which ranks report.
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "app/cli/invocation.h"
#include "app/headless/console.h"
#include "app/headless/interrupt.h"
#include "compute/train/ranks/rank_session.h"

namespace lab::app {

class MultiProcessRun {
 public:
  using Execute = std::function<int(const Invocation&, RankSession&)>;

  // For several ranks. The arguments must outlive it.
  MultiProcessRun(RankSession& session, Console& console, Interrupt& interrupt);

  // Verifies that all ranks were started identically. Then all ranks train or run a lesson over
  // ranks, or rank 0 opens the
  // window and the others follow it, or rank 0 runs another command while the others wait. Returns
  // the exit status; throws what `execute` throws, and Error if the ranks differ.
  int run(std::span<const char* const> args, const Execute& execute);

  // Announces a failure of this rank to the other ranks unless they detect it themselves. Returns
  // true if this rank should report it.
  bool announce(Errc code, const std::string& message);

  bool leads() const { return leads_; }
  // Prefix of this rank's messages.
  const std::string& prefix() const { return prefix_; }

 private:
  void compare(const std::optional<Invocation>& invocation, const std::optional<Error>& problem);
  int wait_for_leader();

  RankSession& session_;
  Console& console_;
  Interrupt& interrupt_;
  const bool leads_;
  const std::string prefix_;
  bool all_know_ = false;  // every rank detects the failure by itself
  bool differ_ = false;    // the failure is a difference between the ranks
};

}  // namespace lab::app
