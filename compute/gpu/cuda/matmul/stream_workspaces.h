#pragma once
// Memory in which a matrix library keeps partial sums, one piece for each stream, since what two
// streams run at once must not share it.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/gpu/cuda/matmul/library_gpu.h"

namespace lab::cuda {

// Source  cuBLAS documentation, cublasSetWorkspace: what it advises for Hopper, the most of any.
inline constexpr std::int64_t kWorkspaceBytes = 32LL << 20;

class StreamWorkspaces {
 public:
  explicit StreamWorkspaces(LibraryGpu& gpu) : gpu_(gpu) {}
  ~StreamWorkspaces();
  StreamWorkspaces(const StreamWorkspaces&) = delete;
  StreamWorkspaces& operator=(const StreamWorkspaces&) = delete;

  // kWorkspaceBytes of the GPU, for `stream` alone until kMostStreams others have come. A stream
  // that has none yet may wait for the GPU. Throws Error(OutOfMemory) naming the size.
  void* of(cudaStream_t stream);
  static constexpr std::size_t kMostStreams = 4;

  // Of the GPU, held now. From any thread.
  std::int64_t held_bytes() const noexcept { return held_bytes_; }

 private:
  struct Piece {
    unsigned long long stream;  // LibraryGpu::id_of
    void* memory;
  };
  LibraryGpu& gpu_;
  std::vector<Piece> pieces_;
  std::size_t oldest_ = 0;
  std::atomic<std::int64_t> held_bytes_ = 0;
};

}  // namespace lab::cuda
