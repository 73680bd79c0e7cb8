#include "compute/train/staged_batch.h"

#include <algorithm>

#include "compute/machine/cpu_topology.h"

namespace lab {

StagedBatch::~StagedBatch() {
  wait();
}

void StagedBatch::prepare(const BatchLoader& loader, std::int64_t step, BatchSlice slice) {
  wait();
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { copy_when_asked(stop); });
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

void StagedBatch::copy_when_asked(const std::stop_token& stop) {
  set_thread_affinity(cores_);  // not the one of whoever asked first
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
