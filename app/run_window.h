#pragma once
// Opens the window and runs it until it is closed.
#include "app/cli/invocation.h"
#include "app/headless/interrupt.h"
#include "compute/train/ranks/rank_session.h"

namespace lab::app {

// Returns the exit status. With several processes in `session`, trainings run on all of them.
// Throws Error if there is no display or no OpenGL 3.3, a script fails, or a file cannot be
// written. In a build without the window, throws Error(Unsupported).
int run_window(const WindowOptions& options, Interrupt& interrupt, RankSession& session);

}  // namespace lab::app
