#pragma once
// The batches of an epoch: which images, in which order, as floats in [0, 1].
#include <cstdint>
#include <memory>
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

}  // namespace lab
