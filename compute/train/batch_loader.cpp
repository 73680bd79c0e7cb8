#include "compute/train/batch_loader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compute/cpu/pixels.h"
#include "compute/tensor/random.h"

namespace lab {
namespace {

// Streams below belong to the parameters' initial values.
constexpr std::uint64_t kFirstShuffleStream = std::uint64_t{1} << 32;

}  // namespace

BatchLoader::BatchLoader(const ImageSet& images, std::int64_t batch, BatchOrder order,
                         std::uint64_t seed)
    : images_(images),
      batch_(batch),
      order_(order),
      seed_(seed),
      index_(static_cast<std::size_t>(images.count)) {
  std::iota(index_.begin(), index_.end(), 0U);
}

std::int64_t BatchLoader::steps_per_epoch() const {
  return (images_.count + batch_ - 1) / batch_;
}

std::int64_t BatchLoader::batch_size(std::int64_t step) const {
  return std::clamp<std::int64_t>(images_.count - step * batch_, 0, batch_);
}

// Fisher and Yates, from the file's order each time, so that an epoch needs no earlier one.
void BatchLoader::start_epoch(std::int64_t epoch) {
  if (order_ == BatchOrder::Sequential) return;
  std::iota(index_.begin(), index_.end(), 0U);
  const RandomStream random{seed_, kFirstShuffleStream + static_cast<std::uint64_t>(epoch)};
  for (std::size_t i = index_.size(); i > 1; --i) {
    std::swap(index_[i - 1], index_[random.below(i, static_cast<std::uint32_t>(i))]);
  }
}

void BatchLoader::load(std::int64_t step, BatchSlice slice, ThreadPool& pool, float* pixels,
                       std::uint8_t* labels) const {
  const std::int64_t size = std::int64_t{images_.height} * images_.width;
  const std::uint32_t* chosen = index_.data() + step * batch_ + slice.begin;
  pool.parallel_for(slice.end - slice.begin, 32, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      simd::pixels_to_floats(images_.pixels.data() + chosen[i] * size, pixels + i * size, size);
      labels[i] = images_.labels[chosen[i]];
    }
  });
}

}  // namespace lab
