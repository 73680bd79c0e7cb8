#pragma once
// Pieces of 4 numbers (16 bytes) of a row, between memory and registers.
#include "compute/gpu/cuda/kernel/simt.h"

namespace lab::cuda_matmul {

constexpr int kChunk = 4;

LAB_DEVICE void unpack(float* to, const simt::Float4& from) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
  to[3] = from.w;
}

// to[0..3] = row[col..col+3], 0 from column `end` on. kAligned: row + col is 16-byte aligned.
template <bool kAligned>
LAB_DEVICE void read_chunk(float (&to)[kChunk], simt::GlobalPtr<const float> row, int col,
                           int end) {
  if (kAligned && col + kChunk <= end) {
    unpack(to, simt::load_readonly<simt::Float4>(row + col));
    return;
  }
  LAB_UNROLL
  for (int e = 0; e < kChunk; ++e) to[e] = col + e < end ? row[col + e] : 0.0F;
}

// row[col..col+3] = from[0..3], nothing from column `end` on.
template <bool kAligned>
LAB_DEVICE void write_chunk(simt::GlobalPtr<float> row, int col, int end, const float* from) {
  if constexpr (kAligned) {  // then `end` is a multiple of kChunk too
    if (col < end) simt::store(row + col, simt::Float4{from[0], from[1], from[2], from[3]});
  } else {
    LAB_UNROLL
    for (int e = 0; e < kChunk; ++e) {
      if (col + e < end) row[col + e] = from[e];
    }
  }
}

}  // namespace lab::cuda_matmul
