#pragma once
// One command line, several processes: who does what, and who says what.
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "app/cli/invocation.h"
#include "app/headless/console.h"
#include "app/headless/interrupt.h"
#include "compute/train/ranks/rank_session.h"

namespace lab::app {

class Together {
 public:
  using Execute = std::function<int(const Invocation&, RankSession&)>;

  // Of several ranks. What is passed must outlive it.
  Together(RankSession& session, Console& console, Interrupt& interrupt);

  // Makes sure that all ranks were started alike; then all of them train, or rank 0 opens the
  // window and the others follow it, or rank 0 runs another command and the others wait. Returns
  // the exit status; throws what `execute` throws and Error where the ranks differ.
  int run(std::span<const char* const> args, const Execute& execute);

  // Tells the other ranks of a failure of this one, unless they know of it. Returns whether this
  // rank is one to report it.
  bool announce(Errc code, const std::string& message);

  bool leads() const { return leads_; }
  // In front of this rank's messages.
  const std::string& prefix() const { return prefix_; }

 private:
  void compare(const std::optional<Invocation>& invocation, const std::optional<Error>& problem);
  int wait_for_leader();

  RankSession& session_;
  Console& console_;
  Interrupt& interrupt_;
  const bool leads_;
  const std::string prefix_;
  bool all_know_ = false;  // the failure is one that every rank finds by itself
  bool differ_ = false;    // and it is that they were started differently
};

}  // namespace lab::app
