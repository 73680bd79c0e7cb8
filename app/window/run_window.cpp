#include "app/run_window.h"

#include "app/headless/commands.h"
#include "app/window/lab_window.h"

namespace lab::app {

int run_window(const WindowOptions& options, Interrupt& interrupt, RankSession& session) {
  // The window and all its threads are gone when the program starts itself anew.
  if (const auto plan = LabWindow(options, interrupt, session).run()) restart(*plan);
  return interrupt.requested() ? kExitInterrupted : kExitDone;
}

}  // namespace lab::app
