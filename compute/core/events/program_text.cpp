#include "compute/core/events/program_text.h"

#include <algorithm>

namespace lab {

std::vector<std::string> disturbers(const ProgramUse& use, std::size_t most) {
  constexpr double kLeast = 0.05, kNotable = 0.1;  // cores, and of all that others used
  double all = use.rest_cores;
  for (const Program& program : use.busiest) {
    if (program.kind != ProgramKind::Lab) all += program.cores;
  }
  std::vector<std::string> names;
  for (const Program& program : use.busiest) {
    if (program.kind != ProgramKind::Other || names.size() >= most) continue;
    if (program.cores >= std::max(kLeast, kNotable * all)) names.push_back(program.name);
  }
  return names;
}

}  // namespace lab
