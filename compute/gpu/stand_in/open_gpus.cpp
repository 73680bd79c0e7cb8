// Replaces the CUDA backend in builds without CUDA.
#include "compute/gpu/cuda/open_gpus.h"
#include "compute/core/language.h"

namespace lab {

GpuBackendResult open_gpus() {
  GpuBackendResult offer;
  offer.reason =
      tr("this build omits CUDA (LAB_CUDA=OFF, or nvcc was not found when it was configured)");
  return offer;
}

}  // namespace lab
