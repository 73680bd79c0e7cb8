#include "app/headless/commands.h"
#include "app/headless/headless_lab.h"

namespace lab::app {

int run_job(const JobOptions& options, Console& console, Interrupt& interrupt) {
  HeadlessLab lab(options.cpu_devices, interrupt);
  const auto printer =
      options.json ? make_json_printer(console) : make_table_printer(console, options.command);
  lab.run(options.command, *printer);
  return kExitDone;
}

}  // namespace lab::app
