#pragma once
// The next step's images, copied by a thread of their own while the current step computes.
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "compute/train/batch_loader.h"

namespace lab {

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
