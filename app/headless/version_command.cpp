#include <fmt/format.h>

#include "app/build_info.h"
#include "app/headless/commands.h"

namespace lab::app {

int run_version(Console& console) {
  console.line(fmt::format("device-lab {}", kVersion));
  console.line(fmt::format("build     {}, {}", kBuildType, kCompiler));
  console.line(fmt::format("window    {}", kHasWindow ? "yes" : "no"));
  console.line(fmt::format("CUDA      {}", kHasCuda ? "yes" : "no"));
  console.line(fmt::format("MPI       {}", kHasMpi ? "yes" : "no"));
  return kExitDone;
}

}  // namespace lab::app
