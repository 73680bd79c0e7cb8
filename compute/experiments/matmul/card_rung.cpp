#include "compute/experiments/matmul/card_rung.h"

namespace lab {

const GpuRung* card_rung_for(GpuDevice& card, Precision precision, const GpuProduct& product) {
  const GpuRung* last = nullptr;
  for (const GpuRung& rung : card.matmul().rungs()) {
    if (rung.library || rung.precision != precision) continue;
    if (!card.matmul().unsupported(rung, product)) last = &rung;
  }
  return last;
}

}  // namespace lab
