#pragma once
// Jobs of several processes: rank 0 leads, the others work along in silence.
#include "app/cli/invocation.h"
#include "app/headless/console.h"
#include "app/headless/interrupt.h"
#include "app/headless/printer.h"
#include "compute/core/error.h"
#include "compute/run/worker.h"
#include "compute/train/ranks/rank_session.h"

namespace lab::app {

// "rank 1 (node2): ", in front of what a rank other than 0 has to say; "" for rank 0.
std::string rank_prefix(const RankGroup& ranks);

// Shows warnings and errors alone, with the prefix.
std::unique_ptr<Printer> make_rank_printer(Console& console, const RankGroup& ranks);

// What `device-lab scaling` and its page say where there are several processes.
Error scaling_of_one_process();

// Of a window's worker: a training is announced to the other ranks, which run it too; `session`
// must outlive it. Scaling is refused where there are several.
Worker::Factory leading_factory(RankSession& session);

// The other ranks of a window: run along with each training of rank 0, until a rank leaves. Returns
// the exit status.
int follow_window(const WindowOptions& options, Console& console, Interrupt& interrupt,
                  RankSession& session);

}  // namespace lab::app
