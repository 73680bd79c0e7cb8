#pragma once
// What an operation can do on one block of images that lie side by side
// (compute/kernels/ops/image_lanes.h): vectors [height, width, channels] of one value of all
// images. One thread takes a block through several operations, so that it finds the block in its
// cache (lane_chain.h).
#include <cstdint>

#include "compute/machine/scratch.h"

namespace lab::nn {

enum class Direction { Forward, Backward };

class LaneOp {
 public:
  virtual ~LaneOp() = default;

  // A thread's own memory for a pass, in bytes; its content stays from block to block.
  virtual std::int64_t bytes(Direction direction) const {
    static_cast<void>(direction);
    return 0;
  }
  // Before a thread's first block of a pass.
  virtual void begin(Direction direction, Scratch mine) const {
    static_cast<void>(direction), static_cast<void>(mine);
  }
  // Writes y; operations in place change x too.
  virtual void forward(float* x, float* y, Scratch mine) const = 0;
  // `x` as forward left it. Writes dx, null for the first of a chain where nobody asks for it, and
  // adds to its parameters' gradients in the thread's memory.
  virtual void backward(const float* x, const float* dy, float* dx, Scratch mine) const = 0;
  // After a thread's last block of backward.
  virtual void end(Scratch mine) const { static_cast<void>(mine); }
  // When all threads have ended: writes the parameters' gradients. Thread t's memory lies
  // t * stride_bytes behind the first one's.
  virtual void finish(Scratch first, std::int64_t stride_bytes, int threads) const {
    static_cast<void>(first), static_cast<void>(stride_bytes), static_cast<void>(threads);
  }
};

}  // namespace lab::nn
