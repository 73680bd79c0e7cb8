#pragma once
// The batches of an epoch: which images, in which order, as floats in [0, 1].
#include <cstdint>
#include <vector>

#include "compute/data/dataset.h"
#include "compute/device/thread_pool.h"
#include "compute/types/command.h"

namespace lab {

// Images [begin, end) of a step's batch.
struct BatchSlice {
  std::int64_t begin = 0, end = 0;
};

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

 private:
  const ImageSet& images_;
  const std::int64_t batch_;
  const BatchOrder order_;
  const std::uint64_t seed_;
  std::vector<std::uint32_t> index_;
};

}  // namespace lab
