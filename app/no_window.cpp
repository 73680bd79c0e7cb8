#include "app/run_window.h"
#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab::app {

int run_window(const WindowOptions&, Interrupt&, RankSession&) {
  throw Error(
      Errc::Unsupported,
      tr("this build has no window (LAB_GUI=OFF); 'device-lab tour' shows everything in the "
         "terminal, 'device-lab --help' lists the commands"));
}

}  // namespace lab::app
