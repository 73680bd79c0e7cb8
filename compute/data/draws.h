#pragma once
// Random draws for one synthetic image, one after the other.
#include <cstdint>

#include "compute/tensor/random.h"

namespace lab {

// The draws depend on seed, stream and image alone, so that any image can be made by itself.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint32_t stream, std::uint64_t image)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, static_cast<std::uint32_t>(image), static_cast<std::uint32_t>(image >> 32),
                 stream} {}

  std::uint32_t bits() {
    if (next_ == words_.size()) refill();
    return words_[next_++];
  }
  // Uniform in [low, high).
  float uniform(float low, float high) {
    return low + (high - low) * (static_cast<float>(bits() >> 8) * 0x1p-24F);
  }
  bool chance(float probability) { return uniform(0, 1) < probability; }
  // Uniform in [0, n).
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>((std::uint64_t{bits()} * n) >> 32);
  }

 private:
  void refill() {
    words_ = philox4x32(counter_, key_);
    ++counter_[0];
    next_ = 0;
  }

  PhiloxKey key_;
  PhiloxCounter counter_;
  PhiloxCounter words_{};
  std::size_t next_ = words_.size();
};

}  // namespace lab
