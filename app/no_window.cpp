#include "app/run_window.h"
#include "compute/core/error.h"

namespace lab::app {

int run_window(const WindowOptions&, Interrupt&, RankSession&) {
  throw Error(Errc::Unsupported,
              "this build has no window (LAB_GUI=OFF); 'device-lab tour' shows everything in the "
              "terminal, 'device-lab --help' lists the commands");
}

}  // namespace lab::app
