#pragma once
// What the build knows of CUDA. Both builds, with and without the toolkit, answer.
#include <string>

#include "compute/core/maybe.h"

namespace lab {

// Version of the CUDA Toolkit this program was built against, "13.0", or why it was left out.
Maybe<std::string> cuda_toolkit_version();

}  // namespace lab
