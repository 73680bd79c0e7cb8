#pragma once
// The batches of an epoch: selection, order and augmentation of images, and conversion to floats in
// [0, 1].
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
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

// Images of a batch as bytes, one after another.
struct BatchBytes {
  const std::uint8_t* pixels = nullptr;
  const std::uint8_t* labels = nullptr;
};

// The images of an epoch, in order; the bit kFlippedImage (gpu_layers.h) marks those that are
// mirrored. The same object implies the same images of the same set.
using ImageOrder = std::shared_ptr<const std::vector<std::uint32_t>>;

// What an order of a set's images depends on: equal rules give equal orders.
struct OrderRule {
  std::uint64_t seed = 0;
  // Streams of random numbers; absent: the file's order, and no image is mirrored.
  std::optional<std::uint64_t> shuffle_stream = {}, flip_stream = {};
  bool operator==(const OrderRule&) const = default;
};

class BatchLoader {
 public:
  // `images` must outlive the loader. The last batch of an epoch may be short; none is dropped.
  BatchLoader(const ImageSet& images, std::int64_t batch, BatchOrder order, std::uint64_t seed,
              Augmentation augment = Augmentation::None);

  std::int64_t steps_per_epoch() const;
  // Number of images in a step of the epoch; steps count from 0.
  std::int64_t batch_size(std::int64_t step) const;

  // Chooses the order of images for `epoch` and those that are mirrored, which depends only on the
  // seed and the epoch. Sequential order is the file's order in every epoch. Not while other
  // threads use the loader.
  void start_epoch(std::int64_t epoch);

  // Writes pixels / 255 and labels of a slice of the step's batch.
  void load(std::int64_t step, BatchSlice slice, ThreadPool& pool, float* pixels,
            std::uint8_t* labels) const;

  // load() in two parts: copies the bytes of the slice's images on the calling thread, and later
  // converts them to pixels / 255 and labels.
  void copy_bytes(std::int64_t step, BatchSlice slice, std::uint8_t* pixels,
                  std::uint8_t* labels) const;
  void convert(const BatchBytes& from, std::int64_t images, ThreadPool& pool, float* pixels,
               std::uint8_t* labels) const;

  const ImageSet& images() const { return images_; }
  // Number of the slice's first image in the epoch's order.
  std::int64_t first_image(std::int64_t step, BatchSlice slice) const {
    return step * batch_ + slice.begin;
  }
  std::int64_t image_size() const { return std::int64_t{images_.height} * images_.width; }
  const OrderRule& rule() const { return rule_; }
  // Order of the current epoch; a new object whenever the order changes. The first call of an epoch
  // draws it; a GPU draws its own. Thread-safe.
  ImageOrder order() const;

 private:
  const ImageSet& images_;
  const std::int64_t batch_;
  const BatchOrder order_;
  const std::uint64_t seed_;
  const Augmentation augment_;
  OrderRule rule_;
  mutable std::mutex mutex_;
  mutable ImageOrder drawn_;  // by the rule, once asked for
};

// Copies the images of the next step on its own thread while the current step computes.
class StagedBatch {
 public:
  // The copying thread may run on any of `cores`. It starts with the first prepare() and sleeps
  // while idle.
  explicit StagedBatch(std::vector<int> cores) : cores_(std::move(cores)) {}
  ~StagedBatch();
  StagedBatch(const StagedBatch&) = delete;
  StagedBatch& operator=(const StagedBatch&) = delete;

  // Starts copying a slice of a step of the loader's epoch and returns at once. The loader must not
  // change until wait(). Allocates only if the slice has more images than any before.
  void prepare(const BatchLoader& loader, std::int64_t step, BatchSlice slice);
  // Returns once no copy is in progress.
  void wait();

  // Returns the slice's images if they are exactly those prepared last and their order is
  // unchanged, otherwise an empty batch. Call it after wait(); the result is valid until the next
  // prepare().
  BatchBytes find(const BatchLoader& loader, std::int64_t step, BatchSlice slice) const;

 private:
  void copy_on_request(const std::stop_token& stop);

  const std::vector<int> cores_;
  std::vector<std::uint8_t> pixels_, labels_;
  ImageOrder order_;  // of the staged images
  std::int64_t step_ = -1;
  BatchSlice slice_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  const BatchLoader* asked_ = nullptr;  // source of the copy that is pending or in progress
  std::jthread thread_;                 // last, because it uses the members above
};

}  // namespace lab
