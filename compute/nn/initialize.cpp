#include <algorithm>
#include <vector>

#include "compute/nn/layout.h"
#include "compute/nn/network.h"
#include "compute/tensor/random.h"

namespace lab::nn {
namespace {

void draw(const Init& init, const RandomStream& random, std::span<float> out) {
  switch (init.draw) {
    case Draw::Constant: std::fill(out.begin(), out.end(), static_cast<float>(init.scale)); return;
    case Draw::Uniform:
      random.fill_uniform(out);
      for (float& v : out) v = static_cast<float>((2.0 * v - 1.0) * init.scale);
      return;
    case Draw::Normal:
      random.fill_normal(out);
      for (float& v : out) v = static_cast<float>(v * init.scale);
      return;
  }
}

}  // namespace

void initialize(Network& network, std::uint64_t seed) {
  std::vector<float> values;
  std::uint64_t stream = 0;
  for (Parameter& parameter : network.parameters()) {
    values.resize(static_cast<std::size_t>(parameter.size));
    draw(parameter.init, {seed, stream++}, values);
    from_torch(parameter, values, parameter.value);
  }
  for (RunningStatistics& running : network.running()) {
    std::fill(running.mean.begin(), running.mean.end(), 0.0F);
    std::fill(running.variance.begin(), running.variance.end(), 1.0F);
    running.batches = 0;
  }
}

}  // namespace lab::nn
