#include "app/headless/commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/build_info.h"
#include "app/headless/headless_lab.h"
#include "app/headless/ranks/rank_jobs.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/data/dataset.h"
#include "compute/data/fetch.h"
#include "compute/gpu/cuda/open_gpus.h"
#include "compute/machine/machine.h"

namespace lab::app {

int run_version(Console& console) {
  console.line(fmt::format("device-lab {}", kVersion));
  console.line(fmt::format("build     {}, {}", kBuildType, kCompiler));
  console.line(fmt::format("window    {}", kHasWindow ? "yes" : "no"));
  console.line(fmt::format("CUDA      {}", kHasCuda ? "yes" : "no"));
  console.line(fmt::format("MPI       {}", kHasMpi ? "yes" : "no"));
  return kExitDone;
}

// --- jobs -----------------------------------------------------------------------------------

namespace {

int cpu_devices_for(const JobOptions& options) {
  if (options.cpu_devices != kOneDevicePerCore) return options.cpu_devices;
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
                   .emulated_gpus = options.emulated_gpus,
                   .check_emulation = false,
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

// --- data sets ------------------------------------------------------------------------------

namespace {

int fetch(const DataOptions& options, Console& console, Interrupt& interrupt) {
  const auto dir = options.dir.empty() ? default_data_dir() : options.dir;
  const std::string url = options.url.empty() ? default_base_url() : options.url;
  console.line(trf("Fashion-MNIST from {} into {}", url, dir.string()));
  fetch_fashion_mnist(dir, url, [&](const FetchProgress& p) {
    if (interrupt.requested()) {
      throw Error(Errc::Cancelled, tr("interrupted; run the same command again to resume"));
    }
    const double total = static_cast<double>(p.total_bytes);
    const double share = p.total_bytes > 0 ? static_cast<double>(p.bytes) / total : 0;
    console.progress(share, fmt::format("{}  {}", p.file, format_bytes(p.bytes)), {});
  });
  console.line(tr("all four files verified"));
  return kExitDone;
}

// Returns --dir or, without it, the first default folder that exists.
std::filesystem::path place_to_verify(const DataOptions& options) {
  if (!options.dir.empty()) return options.dir;
  for (const auto& dir : data_dirs()) {
    if (std::filesystem::is_directory(dir)) return dir;
  }
  return default_data_dir();
}

int verify(const DataOptions& options, Console& console) {
  const auto dir = place_to_verify(options);
  const VerifyReport report = verify_fashion_mnist(dir);
  for (const auto& [file, state] : report.files) {
    console.line(fmt::format("{:<30}{}", file, state));
  }
  if (report.all_ok) return kExitDone;
  throw Error(Errc::Corrupt, trf("data verify: {} is not complete; repair it with "
                                 "'device-lab data fetch --dir {}'",
                                 dir.string(), dir.string()));
}

}  // namespace

int run_data(const DataOptions& options, Console& console, Interrupt& interrupt) {
  return options.action == DataAction::Fetch ? fetch(options, console, interrupt)
                                             : verify(options, console);
}

}  // namespace lab::app
