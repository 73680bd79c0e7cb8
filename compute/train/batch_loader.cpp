#include "compute/train/batch_loader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compute/gpu/gpu_layers.h"
#include "compute/kernels/ops/vector_ops.h"
#include "compute/machine/cpu_topology.h"
#include "compute/tensor/random.h"

namespace lab {
namespace {

// Lower stream numbers are used for the parameters' initial values.
constexpr std::uint64_t kFirstShuffleStream = std::uint64_t{1} << 32;
constexpr std::uint64_t kFirstFlipStream = std::uint64_t{1} << 33;

// Fisher-Yates shuffle of the file's order, so that an epoch does not depend on earlier ones.
std::vector<std::uint32_t> draw(std::int64_t images, const OrderRule& rule) {
  std::vector<std::uint32_t> index(static_cast<std::size_t>(images));
  std::iota(index.begin(), index.end(), 0U);
  if (rule.shuffle_stream) {
    const RandomStream random{rule.seed, *rule.shuffle_stream};
    for (std::size_t i = index.size(); i > 1; --i) {
      std::swap(index[i - 1], index[random.below(i, static_cast<std::uint32_t>(i))]);
    }
  }
  if (rule.flip_stream) {
    const RandomStream flips{rule.seed, *rule.flip_stream};
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (flips.below(i, 2) == 1) index[i] |= kFlippedImage;
    }
  }
  return index;
}

constexpr std::uint32_t image_of(std::uint32_t entry) {
  return entry & ~kFlippedImage;
}
constexpr bool is_flipped(std::uint32_t entry) {
  return (entry & kFlippedImage) != 0;
}

// Reverses each row of an image.
template <typename Pixel>
void mirror(Pixel* image, std::int64_t size, std::int64_t width) {
  for (Pixel* row = image; row < image + size; row += width) std::reverse(row, row + width);
}

}  // namespace

BatchLoader::BatchLoader(const ImageSet& images, std::int64_t batch, BatchOrder order,
                         std::uint64_t seed, Augmentation augment)
    : images_(images), batch_(batch), order_(order), seed_(seed), augment_(augment) {}

std::int64_t BatchLoader::steps_per_epoch() const {
  return (images_.count + batch_ - 1) / batch_;
}

std::int64_t BatchLoader::batch_size(std::int64_t step) const {
  return std::clamp<std::int64_t>(images_.count - step * batch_, 0, batch_);
}

void BatchLoader::start_epoch(std::int64_t epoch) {
  OrderRule rule;
  const auto number = static_cast<std::uint64_t>(epoch);
  if (order_ == BatchOrder::Shuffled) rule.shuffle_stream = kFirstShuffleStream + number;
  if (augment_ == Augmentation::Flip) rule.flip_stream = kFirstFlipStream + number;
  if (rule != OrderRule()) rule.seed = seed_;
  if (rule != rule_) drawn_ = nullptr;
  rule_ = rule;
}

ImageOrder BatchLoader::order() const {
  const std::lock_guard lock(mutex_);
  if (drawn_ == nullptr) {
    drawn_ = std::make_shared<std::vector<std::uint32_t>>(draw(images_.count, rule_));
  }
  return drawn_;
}

void BatchLoader::load(std::int64_t step, BatchSlice slice, ThreadPool& pool, float* pixels,
                       std::uint8_t* labels) const {
  const std::int64_t size = image_size();
  const ImageOrder order = this->order();
  const std::uint32_t* image = order->data() + first_image(step, slice);
  pool.parallel_for(slice.end - slice.begin, 32, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t from = image_of(image[i]);
      float* const to = pixels + i * size;
      simd::pixels_to_floats(images_.pixels.data() + from * size, to, size);
      if (is_flipped(image[i])) mirror(to, size, images_.width);
      labels[i] = images_.labels[static_cast<std::size_t>(from)];
    }
  });
}

void BatchLoader::copy_bytes(std::int64_t step, BatchSlice slice, std::uint8_t* pixels,
                             std::uint8_t* labels) const {
  const std::int64_t size = image_size();
  const ImageOrder order = this->order();
  const std::uint32_t* image = order->data() + first_image(step, slice);
  for (std::int64_t i = 0; i < slice.end - slice.begin; ++i) {
    const std::int64_t from = image_of(image[i]);
    std::uint8_t* const to = pixels + i * size;
    std::copy_n(images_.pixels.data() + from * size, size, to);
    if (is_flipped(image[i])) mirror(to, size, images_.width);
    labels[i] = images_.labels[static_cast<std::size_t>(from)];
  }
}

void BatchLoader::convert(const BatchBytes& from, std::int64_t images, ThreadPool& pool,
                          float* pixels, std::uint8_t* labels) const {
  const std::int64_t size = image_size();
  pool.parallel_for(images, 32, [&](std::int64_t begin, std::int64_t end) {
    simd::pixels_to_floats(from.pixels + begin * size, pixels + begin * size, (end - begin) * size);
    std::copy(from.labels + begin, from.labels + end, labels + begin);
  });
}

StagedBatch::~StagedBatch() {
  wait();
}

void StagedBatch::prepare(const BatchLoader& loader, std::int64_t step, BatchSlice slice) {
  wait();
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { copy_on_request(stop); });
  }
  const auto images = static_cast<std::size_t>(slice.end - slice.begin);
  labels_.resize(std::max(labels_.size(), images));
  pixels_.resize(std::max(pixels_.size(), images * static_cast<std::size_t>(loader.image_size())));
  order_ = loader.order();
  step_ = step;
  slice_ = slice;
  {
    const std::lock_guard lock(mutex_);
    asked_ = &loader;
  }
  changed_.notify_all();
}

void StagedBatch::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return asked_ == nullptr; });
}

BatchBytes StagedBatch::find(const BatchLoader& loader, std::int64_t step, BatchSlice slice) const {
  if (order_ == nullptr || order_ != loader.order() || step_ != step || slice_ != slice) return {};
  return {.pixels = pixels_.data(), .labels = labels_.data()};
}

void StagedBatch::copy_on_request(const std::stop_token& stop) {
  set_thread_affinity(cores_);  // not inherited from the thread that called prepare() first
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return asked_ != nullptr; })) {
    const BatchLoader& loader = *asked_;
    lock.unlock();
    loader.copy_bytes(step_, slice_, pixels_.data(), labels_.data());
    lock.lock();
    asked_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace lab
