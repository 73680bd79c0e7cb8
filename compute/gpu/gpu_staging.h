#pragma once
// Copies between a GPU and pageable memory through two pinned buffers: while the GPU transfers one,
// the caller fills or empties the other.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "compute/gpu/gpu_backend.h"

namespace lab {

class GpuStaging {
 public:
  // Copies `bytes` bytes in host memory; may use several threads.
  using Move = std::function<void(std::byte* to, const std::byte* from, std::int64_t bytes)>;

  // Allocates the pinned memory at the first copy. `gpu` must outlive this object.
  explicit GpuStaging(GpuDevice& gpu) : gpu_(gpu) {}

  // Copy on the GPU's main stream and return when the data has arrived. Thread-safe; concurrent
  // calls are serialised. Where pinned memory cannot be allocated, the driver's pageable copy is
  // used.
  void to_gpu(std::byte* to, const std::byte* from, std::int64_t bytes, const Move& move);
  void from_gpu(std::byte* to, const std::byte* from, std::int64_t bytes, const Move& move);

 private:
  struct Piece {
    std::unique_ptr<PinnedMemory> memory;
    std::unique_ptr<GpuEvent> copied;  // the GPU's copy from or to `memory` has completed
  };
  bool ready();

  GpuDevice& gpu_;
  std::mutex mutex_;
  bool tried_ = false;
  std::array<Piece, 2> pieces_;
};

}  // namespace lab
