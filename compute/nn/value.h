#pragma once
// What flows between operations: one array for the whole batch, planned once.
#include <cstdint>

namespace lab::nn {

// Size of one image's part. Stored as NHWC: [image, y, x, channel]; inside of a chain of operations
// (lane_chain.h) as blocks of images.
struct ImageShape {
  std::int64_t channels = 1, height = 1, width = 1;
  std::int64_t size() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

// Memory comes from the network's arena, for its largest batch, with slack for whole vectors after
// the end. `grad` is null for the network's input and where nobody writes it.
struct Value {
  ImageShape shape;
  float* data = nullptr;
  float* grad = nullptr;
};

}  // namespace lab::nn
