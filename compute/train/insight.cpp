#include "compute/train/insight.h"

#include <algorithm>
#include <vector>

namespace lab {

void take_batch(const BatchLoader& loader, std::int64_t step_in_epoch,
                const std::vector<std::int64_t>& images, Insight& insight) {
  BatchImage image;
  insight.batch.clear();
  if (loader.image_size() != static_cast<std::int64_t>(image.pixels.size())) return;
  std::int64_t all = 0;
  for (const std::int64_t n : images) all += n;
  std::int64_t begin = 0;
  for (std::size_t device = 0; device < images.size(); ++device) {
    const std::int64_t n = images[device];
    // Every device with images shows at least one.
    const std::int64_t fair = n * std::min(kInsightImages, all) / std::max<std::int64_t>(all, 1);
    const std::int64_t taken = std::min(n, std::max<std::int64_t>(fair, 1));
    for (std::int64_t i = begin; i < begin + taken; ++i) {
      std::uint8_t label = 0;
      loader.copy_bytes(step_in_epoch, {i, i + 1}, image.pixels.data(), &label);
      image.label = label;
      image.device = static_cast<int>(device);
      insight.batch.push_back(image);
    }
    begin += n;
  }
}

void take_first_layer(const nn::Network& network, Insight& insight) {
  if (network.parameters().empty()) return;
  const nn::Parameter& first = network.parameters().front();
  const Shape& shape = first.shape;
  if (shape.size() == 4 && shape[1] == 1) {
    insight.height = static_cast<int>(shape[2]);
    insight.width = static_cast<int>(shape[3]);
  } else if (shape.size() == 2 && shape[1] == std::int64_t{kImageSide} * kImageSide) {
    insight.height = insight.width = kImageSide;
  } else {
    return;
  }
  insight.units = shape[0];
  const std::int64_t each = std::int64_t{insight.height} * insight.width;
  const std::int64_t units = std::min(insight.units, kInsightUnits);
  insight.weights.assign(first.value, first.value + units * each);
}

}  // namespace lab
