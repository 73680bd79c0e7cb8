#pragma once
// Bytes to floats in [0, 1].
#include <cstdint>

namespace lab::simd {

// out[i] = pixels[i] / 255, correctly rounded.
void pixels_to_floats(const std::uint8_t* pixels, float* out, std::int64_t n);

}  // namespace lab::simd
