#include "app/run_window.h"

#include "app/headless/commands.h"
#include "app/window/lab_window.h"

namespace lab::app {

int run_window(const WindowOptions& options, Interrupt& interrupt, RankSession& session) {
  LabWindow(options, interrupt, session).run();
  return interrupt.requested() ? kExitInterrupted : kExitDone;
}

}  // namespace lab::app
