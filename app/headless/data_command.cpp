#include <fmt/format.h>

#include "app/headless/commands.h"
#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/data/dataset.h"
#include "compute/data/fetch.h"

namespace lab::app {
namespace {

int fetch(const DataOptions& options, Console& console, Interrupt& interrupt) {
  const auto dir = options.dir.empty() ? default_data_dir() : options.dir;
  const std::string url = options.url.empty() ? default_base_url() : options.url;
  console.line(fmt::format("Fashion-MNIST from {} into {}", url, dir.string()));
  fetch_fashion_mnist(dir, url, [&](const FetchProgress& p) {
    if (interrupt.requested()) {
      throw Error(Errc::Cancelled, "interrupted; run the same command again to go on from here");
    }
    const double total = static_cast<double>(p.total_bytes);
    const double share = p.total_bytes > 0 ? static_cast<double>(p.bytes) / total : 0;
    console.progress(share, fmt::format("{}  {}", p.file, format_bytes(p.bytes)), {});
  });
  console.line("all four files are there and right");
  return kExitDone;
}

// Without --dir: the first usual place that exists.
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
  throw Error(Errc::Corrupt, fmt::format("data verify: {} is not complete; repair it with "
                                         "'device-lab data fetch --dir {}'",
                                         dir.string(), dir.string()));
}

}  // namespace

int run_data(const DataOptions& options, Console& console, Interrupt& interrupt) {
  return options.action == DataAction::Fetch ? fetch(options, console, interrupt)
                                             : verify(options, console);
}

}  // namespace lab::app
