#include "compute/kernels/ops/cross_entropy.h"

#include <array>
#include <cmath>

namespace lab::simd {

// Ten classes are a negligible share of a step's work, so this stays scalar and FP64.
void softmax_cross_entropy(const CrossEntropyArgs& args) {
  std::array<double, 256> e;
  for (std::int64_t r = 0; r < args.rows; ++r) {
    const float* z = args.logits + r * args.classes;
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < args.classes; ++c) {
      if (z[c] > z[best]) best = c;
    }
    double sum = 0;
    for (std::int64_t c = 0; c < args.classes; ++c) {
      e[c] = std::exp(static_cast<double>(z[c]) - z[best]);
      sum += e[c];
    }
    const std::uint8_t label = args.labels[r];
    args.losses[r] = static_cast<float>(std::log(sum) - (static_cast<double>(z[label]) - z[best]));
    args.predicted[r] = static_cast<std::uint8_t>(best);
    if (args.confidence != nullptr) args.confidence[r] = static_cast<float>(e[best] / sum);
    if (args.d_logits == nullptr) continue;
    float* dz = args.d_logits + r * args.classes;
    for (std::int64_t c = 0; c < args.classes; ++c) {
      dz[c] = static_cast<float>((e[c] / sum - (c == label ? 1.0 : 0.0)) / args.divisor);
    }
  }
}

}  // namespace lab::simd
