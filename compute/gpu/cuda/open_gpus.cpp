#include "compute/gpu/cuda/open_gpus.h"

#include "compute/gpu/gpu_loader.h"

namespace lab {

GpuBackendResult open_gpus() {
  return load_gpu_backend(gpu_library_paths());
}

}  // namespace lab
