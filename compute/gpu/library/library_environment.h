#pragma once
#include <optional>
#include <string>

#include "compute/core/dtype.h"

namespace lab::library {

// Returns why NVIDIA's libraries would compute in a different precision, or nothing:
// NVIDIA_TF32_OVERRIDE and CUBLAS_EMULATE_SINGLE_PRECISION in the environment take precedence over
// a call's arguments.
std::optional<std::string> overridden(Precision precision);

}  // namespace lab::library
