#include "compute/matmul/card_rung.h"

namespace lab {

const GpuRung* card_rung_for(GpuDevice& card, Precision precision, const GpuProduct& product) {
  const GpuRung* last = nullptr;
  for (const GpuRung& rung : card.matmul().rungs()) {
    if (rung.library || rung.precision != precision) continue;
    if (!card.matmul().unsupported(rung, product)) last = &rung;
  }
  return last;
}

const GpuRung* best_card_rung(GpuDevice& card, Precision precision) {
  constexpr std::int64_t kSize = 4096;
  return card_rung_for(
      card, precision,
      {.m = kSize, .n = kSize, .k = kSize, .lda = kSize, .ldb = kSize, .ldc = kSize});
}

}  // namespace lab
