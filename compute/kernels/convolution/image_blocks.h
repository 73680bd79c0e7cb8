#pragma once
// Loops of the convolutions that process a batch in blocks of images in lane layout
// (compute/kernels/ops/image_lanes.h).
#include <algorithm>
#include <cstdint>

#include "compute/kernels/convolution/algorithm.h"
#include "compute/kernels/ops/image_lanes.h"
#include "compute/machine/slice.h"

namespace lab::image_blocks {

// Calls body(first image, images) for the given blocks until a stop is requested.
template <class Body>
void for_each(const ConvolutionContext& context, Slice blocks, const Body& body) {
  const std::int64_t lanes = simd::image_lanes();
  for (std::int64_t b = blocks.begin; b < blocks.end && !context.stop.stop_requested(); ++b) {
    body(b * lanes, std::min(lanes, context.batch - b * lanes));
  }
}

// Calls body(part, memory) for all parts with the memory of the thread, after begin(memory).
// carve(scratch) returns the memory in the thread's `bytes` of scratch.
template <class Carve, class Begin, class Body>
void run_with_memory(const ConvolutionContext& context, std::int64_t bytes, std::int64_t parts,
                     const Carve& carve, const Begin& begin, const Body& body) {
  const auto memory = [&](int t) {
    return carve(Scratch{context.scratch.data + t * bytes, bytes});
  };
  context.pool.run_parts(
      parts, [&](int t) { begin(memory(t)); },
      [&](std::int64_t part, int t) { body(part, memory(t)); });
}

}  // namespace lab::image_blocks
