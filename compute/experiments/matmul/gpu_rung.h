#pragma once
// Which rung of a GPU's ladder a product is given to where nobody chooses.
#include "compute/core/dtype.h"
#include "compute/gpu/gpu_backend.h"

namespace lab {

// The last of ours that takes the product: each rung is quicker than the one before on the GPUs
// that it is for. Null where none does.
const GpuRung* gpu_rung_for(GpuDevice& gpu, Precision precision, const GpuProduct& product);

}  // namespace lab
