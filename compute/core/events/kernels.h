#pragma once
// Whose kernels compute.
#include "compute/core/fields/enum_names.h"

namespace lab {

// Lab: our own. Library: oneDNN on the CPU.
enum class Kernels { Lab, Library };
template <>
struct EnumNames<Kernels> {
  static constexpr ValueName kAll[] = {{"lab", "Lab"}, {"library", "Library"}};
};

}  // namespace lab
