#pragma once
// Jobs of several processes: rank 0 leads and reports; the other ranks follow.
#include "app/cli/invocation.h"
#include "app/headless/console.h"
#include "app/headless/interrupt.h"
#include "app/headless/printer.h"
#include "compute/core/error.h"
#include "compute/run/worker.h"
#include "compute/train/ranks/rank_session.h"

namespace lab::app {

// "rank 1 (node2): ", the message prefix of ranks other than 0; "" for rank 0.
std::string rank_prefix(const RankGroup& ranks);

// Shows only warnings and errors, with the prefix.
std::unique_ptr<Printer> make_rank_printer(Console& console, const RankGroup& ranks);

// The error of `device-lab scaling` and the Scaling page when there are several processes.
Error scaling_of_one_process();

// Creates the experiments of a window's worker. A training is announced to the other ranks, which
// run it too; scaling with several ranks is an error. `session` must outlive the factory.
Worker::Factory leading_factory(RankSession& session);

// Runs the other ranks of a window: takes part in each training of rank 0 until a rank leaves.
// Returns the exit status.
int follow_window(const WindowOptions& options, Console& console, Interrupt& interrupt,
                  RankSession& session);

}  // namespace lab::app
