#include "compute/experiments/matmul/gpu_rung.h"

namespace lab {

const GpuRung* gpu_rung_for(GpuDevice& gpu, Precision precision, const GpuProduct& product) {
  const GpuRung* last = nullptr;
  for (const GpuRung& rung : gpu.matmul().rungs()) {
    if (rung.library || rung.precision != precision) continue;
    if (!gpu.matmul().unsupported(rung, product)) last = &rung;
  }
  return last;
}

}  // namespace lab
