#include <string>

#include "app/headless/commands.h"
#include "app/headless/headless_lab.h"
#include "app/headless/json_lines.h"
#include "compute/types/error.h"

namespace lab::app {

int run_job(const JobOptions& options, Console& console, Interrupt& interrupt) {
  HeadlessLab lab(options.cpu_devices, interrupt);
  const auto printer =
      options.json ? make_json_printer(console) : make_table_printer(console, options.command);
  const JobResult result = lab.run(options.command, *printer);
  switch (result.outcome) {
    case Outcome::Failed: throw JobFailed(result.error);
    case Outcome::Cancelled: throw Error(Errc::Cancelled, "interrupted; what was printed stays");
    case Outcome::Done: break;
  }
  if (options.json) console.line(json_done(result.seconds, result.training));
  return kExitDone;
}

}  // namespace lab::app
