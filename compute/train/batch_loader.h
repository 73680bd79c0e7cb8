#pragma once
// The batches of an epoch: which images, in which order, as floats in [0, 1].
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/data/dataset.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// Images [begin, end) of a step's batch.
struct BatchSlice {
  std::int64_t begin = 0, end = 0;
  bool operator==(const BatchSlice&) const = default;
};

// Images of a batch as they are stored, one after the other.
struct BatchBytes {
  const std::uint8_t* pixels = nullptr;
  const std::uint8_t* labels = nullptr;
};

// Which images an epoch goes through, in order. The same object means the same images of one set.
using ImageOrder = std::shared_ptr<const std::vector<std::uint32_t>>;

class BatchLoader {
 public:
  // `images` must outlive the loader. The last batch of an epoch may be short; none is dropped.
  BatchLoader(const ImageSet& images, std::int64_t batch, BatchOrder order, std::uint64_t seed);

  std::int64_t steps_per_epoch() const;
  // Images in the epoch's step, from 0.
  std::int64_t batch_size(std::int64_t step) const;

  // Puts the images in the order of `epoch`, which depends on the seed and the epoch alone.
  // Sequential order is the file's, in every epoch.
  void start_epoch(std::int64_t epoch);

  // Writes pixels / 255 and labels of a slice of the step's batch.
  void load(std::int64_t step, BatchSlice slice, ThreadPool& pool, float* pixels,
            std::uint8_t* labels) const;

  // The same in two parts: the bytes of the slice's images, on the calling thread, and later
  // pixels / 255 and labels of them.
  void copy_bytes(std::int64_t step, BatchSlice slice, std::uint8_t* pixels,
                  std::uint8_t* labels) const;
  void convert(const BatchBytes& from, std::int64_t images, ThreadPool& pool, float* pixels,
               std::uint8_t* labels) const;

  std::int64_t image_size() const { return std::int64_t{images_.height} * images_.width; }
  // Of the epoch; another object as soon as another epoch is in another order.
  ImageOrder order() const { return order_of_images_; }

 private:
  const std::uint32_t* chosen(std::int64_t step, BatchSlice slice) const {
    return order_of_images_->data() + step * batch_ + slice.begin;
  }

  const ImageSet& images_;
  const std::int64_t batch_;
  const BatchOrder order_;
  const std::uint64_t seed_;
  ImageOrder order_of_images_;
};

// Copies the images of the next step on a thread of its own while the current step computes.
class StagedBatch {
 public:
  // The copying thread runs on any of `cores`. It starts with the first prepare() and sleeps while
  // there is nothing to copy.
  explicit StagedBatch(std::vector<int> cores) : cores_(std::move(cores)) {}
  ~StagedBatch();
  StagedBatch(const StagedBatch&) = delete;
  StagedBatch& operator=(const StagedBatch&) = delete;

  // Begins to copy a slice of a step of the loader's epoch; returns at once. The loader must stay
  // as it is until wait(). Allocates only for more images than ever before.
  void prepare(const BatchLoader& loader, std::int64_t step, BatchSlice slice);
  // Returns when nothing is being copied any more.
  void wait();

  // The slice's images, when exactly they were prepared last and the order of the images is still
  // the same; else an empty batch. Valid until the next prepare(). Call it after wait().
  BatchBytes find(const BatchLoader& loader, std::int64_t step, BatchSlice slice) const;

 private:
  void copy_when_asked(const std::stop_token& stop);

  const std::vector<int> cores_;
  std::vector<std::uint8_t> pixels_, labels_;
  ImageOrder order_;  // of what is staged
  std::int64_t step_ = -1;
  BatchSlice slice_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  const BatchLoader* asked_ = nullptr;  // whose images are to be copied, or are being copied
  std::jthread thread_;                 // last: it uses the above
};

}  // namespace lab
