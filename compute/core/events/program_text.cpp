#include "compute/core/events/program_text.h"

#include <algorithm>
#include <string_view>

#include "compute/core/language.h"

namespace lab {

std::vector<std::string> disturbers(const ProgramUse& use, std::size_t most) {
  constexpr std::string_view kOwnName = "device-lab";
  constexpr double kLeast = 0.05, kNotable = 0.1;  // cores, and of all that others used
  double all = use.rest_cores;
  for (const Program& program : use.busiest) {
    if (program.kind != ProgramKind::Lab) all += program.cores;
  }
  std::vector<std::string> names;
  for (const Program& program : use.busiest) {
    if (program.kind != ProgramKind::Other || names.size() >= most) continue;
    if (program.cores < std::max(kLeast, kNotable * all)) continue;
    names.push_back(program.name == kOwnName ? std::string(tr("another device-lab"))
                                             : program.name);
  }
  return names;
}

}  // namespace lab
