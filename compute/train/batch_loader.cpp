#include "compute/train/batch_loader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compute/kernels/ops/vector_ops.h"
#include "compute/machine/cpu_topology.h"
#include "compute/tensor/random.h"

namespace lab {
namespace {

// Lower stream numbers are used for the parameters' initial values.
constexpr std::uint64_t kFirstShuffleStream = std::uint64_t{1} << 32;

std::vector<std::uint32_t> file_order(const ImageSet& images) {
  std::vector<std::uint32_t> index(static_cast<std::size_t>(images.count));
  std::iota(index.begin(), index.end(), 0U);
  return index;
}

}  // namespace

BatchLoader::BatchLoader(const ImageSet& images, std::int64_t batch, BatchOrder order,
                         std::uint64_t seed)
    : images_(images),
      batch_(batch),
      order_(order),
      seed_(seed),
      image_order_(std::make_shared<std::vector<std::uint32_t>>(file_order(images))) {}

std::int64_t BatchLoader::steps_per_epoch() const {
  return (images_.count + batch_ - 1) / batch_;
}

std::int64_t BatchLoader::batch_size(std::int64_t step) const {
  return std::clamp<std::int64_t>(images_.count - step * batch_, 0, batch_);
}

// Fisher-Yates shuffle of the file's order, so that an epoch does not depend on earlier ones.
void BatchLoader::start_epoch(std::int64_t epoch) {
  if (order_ == BatchOrder::Sequential) return;
  std::vector<std::uint32_t> index = file_order(images_);
  const RandomStream random{seed_, kFirstShuffleStream + static_cast<std::uint64_t>(epoch)};
  for (std::size_t i = index.size(); i > 1; --i) {
    std::swap(index[i - 1], index[random.below(i, static_cast<std::uint32_t>(i))]);
  }
  image_order_ = std::make_shared<std::vector<std::uint32_t>>(std::move(index));
}

void BatchLoader::load(std::int64_t step, BatchSlice slice, ThreadPool& pool, float* pixels,
                       std::uint8_t* labels) const {
  const std::int64_t size = image_size();
  const std::uint32_t* image = chosen(step, slice);
  pool.parallel_for(slice.end - slice.begin, 32, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      simd::pixels_to_floats(images_.pixels.data() + image[i] * size, pixels + i * size, size);
      labels[i] = images_.labels[image[i]];
    }
  });
}

void BatchLoader::copy_bytes(std::int64_t step, BatchSlice slice, std::uint8_t* pixels,
                             std::uint8_t* labels) const {
  const std::int64_t size = image_size();
  const std::uint32_t* image = chosen(step, slice);
  for (std::int64_t i = 0; i < slice.end - slice.begin; ++i) {
    std::copy_n(images_.pixels.data() + image[i] * size, size, pixels + i * size);
    labels[i] = images_.labels[image[i]];
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
