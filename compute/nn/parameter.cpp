#include "compute/nn/parameter.h"

#include <algorithm>

namespace lab::nn {
namespace {

// Calls visit(lab's index, PyTorch's index) for each element of a convolution's weight.
template <typename Visit>
void each_weight(const Shape& shape, const Visit& visit) {
  const std::int64_t out = shape[0], in = shape[1], window = shape[2] * shape[3];
  for (std::int64_t o = 0; o < out; ++o) {
    for (std::int64_t p = 0; p < window; ++p) {
      for (std::int64_t i = 0; i < in; ++i) {
        visit((o * window + p) * in + i, (o * in + i) * window + p);
      }
    }
  }
}

}  // namespace

void from_torch(const Parameter& parameter, std::span<const float> torch, float* ours) {
  if (parameter.layout == Layout::AsIs) {
    std::copy(torch.begin(), torch.end(), ours);
    return;
  }
  each_weight(parameter.shape, [&](std::int64_t to, std::int64_t from) {
    ours[to] = torch[static_cast<std::size_t>(from)];
  });
}

void to_torch(const Parameter& parameter, const float* ours, std::span<float> torch) {
  if (parameter.layout == Layout::AsIs) {
    std::copy(ours, ours + parameter.size, torch.begin());
    return;
  }
  each_weight(parameter.shape, [&](std::int64_t from, std::int64_t to) {
    torch[static_cast<std::size_t>(to)] = ours[from];
  });
}

}  // namespace lab::nn
