#include "compute/gpu/cuda/toolkit.h"

namespace lab {

Maybe<std::string> cuda_toolkit_version() {
  return Maybe<std::string>::missing(
      "this build left CUDA out (LAB_CUDA=OFF, or nvcc was not found when it was configured)");
}

}  // namespace lab
