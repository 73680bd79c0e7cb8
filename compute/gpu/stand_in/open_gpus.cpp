// Replaces the CUDA backend in builds without CUDA.
#include "compute/gpu/cuda/open_gpus.h"
#include "compute/core/language.h"

namespace lab {

GpuBackendResult open_gpus() {
  GpuBackendResult offer;
  offer.reason =
      tr("this build omits CUDA (LAB_CUDA=OFF, or no nvcc of CUDA 12.4 or later was found when it "
         "was configured)");
  return offer;
}

}  // namespace lab
