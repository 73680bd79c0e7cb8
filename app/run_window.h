#pragma once
// Opens the window and stays until it is closed.
#include "app/cli/invocation.h"
#include "app/headless/interrupt.h"
#include "compute/train/ranks/rank_session.h"

namespace lab::app {

// Returns the exit status. With several processes in `session`, trainings are theirs too. Throws
// Error: no display, no OpenGL 3.3, a script that went wrong, a file that cannot be written; in a
// build without the window Error(Unsupported).
int run_window(const WindowOptions& options, Interrupt& interrupt, RankSession& session);

}  // namespace lab::app
