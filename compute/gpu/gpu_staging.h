#pragma once
// Copies between a GPU and ordinary memory through two pieces of pinned memory: while the GPU
// moves one, the caller fills or empties the other.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "compute/gpu/gpu_backend.h"

namespace lab {

class GpuStaging {
 public:
  // Moves `bytes` bytes in ordinary memory; may use several threads.
  using Move = std::function<void(std::byte* to, const std::byte* from, std::int64_t bytes)>;

  // Takes the pinned memory with the first copy. `GPU` must outlive it.
  explicit GpuStaging(GpuDevice& gpu) : gpu_(gpu) {}

  // On the GPU's main stream; return when all has arrived. Several threads take turns. Where the
  // system gives no pinned memory, the driver's own way is used.
  void to_gpu(std::byte* to, const std::byte* from, std::int64_t bytes, const Move& move);
  void from_gpu(std::byte* to, const std::byte* from, std::int64_t bytes, const Move& move);

 private:
  struct Piece {
    std::unique_ptr<PinnedMemory> memory;
    std::unique_ptr<GpuEvent> copied;  // the GPU is done with the memory
  };
  bool ready();

  GpuDevice& gpu_;
  std::mutex mutex_;
  bool tried_ = false;
  std::array<Piece, 2> pieces_;
};

}  // namespace lab
