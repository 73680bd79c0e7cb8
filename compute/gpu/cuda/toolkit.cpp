#include "compute/gpu/cuda/toolkit.h"

#include <cuda_runtime_api.h>

namespace lab {

Maybe<std::string> cuda_toolkit_version() {
  return std::to_string(CUDART_VERSION / 1000) + '.' + std::to_string(CUDART_VERSION % 1000 / 10);
}

}  // namespace lab
