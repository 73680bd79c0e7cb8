#pragma once
// Lane layout of a block of images: the same value of all images is contiguous, so that one vector
// holds one value of image_lanes() images:
//   value e of image i is block[e * image_lanes() + i]
#include <cstdint>

namespace lab::simd {

// Images per block: the lanes of a float vector, at most kMaxImageLanes.
inline constexpr std::int64_t kMaxImageLanes = 16;
std::int64_t image_lanes();

// A run of values of each image of a block, in ordinary layout:
//   value e of image i is data[i * image_stride + e]
template <typename Float>
struct ImageRuns {
  Float* data = nullptr;
  std::int64_t image_stride = 0;
  std::int64_t images = 0;  // 1..image_lanes()
  std::int64_t size = 0;    // values per image
};

// block = runs; missing images are 0. Reads up to 15 floats past the end of each run.
void images_to_lanes(const ImageRuns<const float>& runs, float* block);

// runs = block, or runs += block if `accumulate`. Accesses nothing outside the runs.
void lanes_to_images(const float* block, const ImageRuns<float>& runs, bool accumulate);

// to[c * rows + r] = from[r * columns + c] for vectors.
void transpose_vectors(const float* from, std::int64_t rows, std::int64_t columns, float* to);

// sums[e] = sum of value e over the block's images, for e in [0, n).
void sum_lanes(const float* block, float* sums, std::int64_t n);

}  // namespace lab::simd
