#pragma once
// Blocks of images with the same value of all images side by side, so that one vector works on one
// value of `image_lanes()` images:
//   value e of image i of a block lies at block[e * image_lanes() + i]
#include <cstdint>

namespace lab::simd {

// Images in a block: the lanes of a vector of floats, at most kMostImageLanes.
inline constexpr std::int64_t kMostImageLanes = 16;
std::int64_t image_lanes();

// Where a run of values of each image of a block lies in ordinary memory: value e of image i at
// data[i * image_stride + e].
template <typename Float>
struct ImageRuns {
  Float* data = nullptr;
  std::int64_t image_stride = 0;
  std::int64_t images = 0;  // 1..image_lanes()
  std::int64_t size = 0;    // values of each image
};

// block = runs; 0 for the images that are missing. Up to 15 floats behind each run are read.
void images_to_lanes(const ImageRuns<const float>& runs, float* block);

// runs = block, or runs += block. Nothing else is read or written.
void lanes_to_images(const float* block, const ImageRuns<float>& runs, bool accumulate);

// sums[e] = sum over the block's images of value e, for e in [0, n).
void sum_lanes(const float* block, float* sums, std::int64_t n);

}  // namespace lab::simd
