#include <algorithm>

#include "app/headless/commands.h"
#include "app/headless/headless_lab.h"
#include "app/headless/ranks/rank_jobs.h"
#include "compute/gpu/cuda/open_gpus.h"
#include "compute/machine/machine.h"

namespace lab::app {
namespace {

int cpu_devices_for(const JobOptions& options) {
  if (options.cpu_devices != kOneDeviceACore) return options.cpu_devices;
  int devices = std::max(2, static_cast<int>(Machine().at(cpu()).info().cores.size()));
  if (const auto* scaling = std::get_if<StartScaling>(&options.command)) {
    for (const Device d : scaling->training.devices) {
      if (d.kind == DeviceKind::Cpu) devices = std::max(devices, d.index + 1);
    }
  }
  return devices;
}

}  // namespace

int run_job(const JobOptions& options, Console& console, Interrupt& interrupt,
            RankSession& session) {
  RankGroup& ranks = session.ranks();
  HeadlessLab lab({.cpu_devices = cpu_devices_for(options),
                   .processes = static_cast<int>(session.host_ranks().size()),
                   .open_gpus = open_gpus,
                   .wake_gpus = names_gpu(options.command)},
                  interrupt, ranks);
  const auto printer = ranks.rank() != 0 ? make_rank_printer(console, ranks)
                       : options.json    ? make_json_printer(console)
                                         : make_table_printer(console, options.command);
  lab.run(options.command, *printer);
  return kExitDone;
}

}  // namespace lab::app
