#pragma once
// Batches on a GPU: the data set is copied there once, as bytes, and each batch is taken from it.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "compute/gpu/gpu_backend.h"
#include "compute/tensor/buffer.h"
#include "compute/train/batch_loader.h"

namespace lab {

class GpuBatches {
 public:
  // `device` is a GPU and must outlive the object.
  explicit GpuBatches(DeviceContext& device);
  ~GpuBatches();

  // The memory of all sets, their orders included, kept until the sets are copied; 0 gives it back.
  // Throws Error(OutOfMemory).
  void reserve(std::int64_t bytes);

  // Queues pixels / 255 and labels of a slice of the step's batch on the main stream. The first
  // call for a set copies it to the GPU and waits; the first of an epoch draws the order of its
  // images there. Sets must outlive this object. Throws Error(OutOfMemory) with the requested and
  // the available bytes.
  void load(const BatchLoader& loader, std::int64_t step, BatchSlice slice, float* pixels,
            std::uint8_t* labels);

 private:
  struct Set {
    Buffer pixels, labels, order, workspace;
    std::optional<OrderRule> rule;  // of `order`
    std::int64_t bytes() const {
      return pixels.bytes() + labels.bytes() + order.bytes() + workspace.bytes();
    }
  };
  Set& on_gpu(const BatchLoader& loader);
  void draw_order(Set& set, std::int64_t images, const OrderRule& rule);

  DeviceContext& device_;
  GpuDevice& gpu_;
  std::map<const ImageSet*, Set> sets_;
  Buffer reserved_;
};

}  // namespace lab
