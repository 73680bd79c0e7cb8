#include "compute/gpu/cuda/matmul/stream_workspaces.h"

namespace lab::cuda {

StreamWorkspaces::~StreamWorkspaces() {
  for (const Piece& piece : pieces_) gpu_.release(piece.memory);
}

void* StreamWorkspaces::of(cudaStream_t stream) {
  const auto id = gpu_.id_of(stream);
  for (const Piece& piece : pieces_) {
    if (piece.stream == id) return piece.memory;
  }
  if (pieces_.size() < kMostStreams) {
    pieces_.reserve(kMostStreams);
    pieces_.push_back({id, gpu_.allocate(kWorkspaceBytes)});
    held_bytes_ += kWorkspaceBytes;
    return pieces_.back().memory;
  }
  gpu_.wait();  // the stream that had this piece may still work in it
  Piece& piece = pieces_[oldest_];
  oldest_ = (oldest_ + 1) % kMostStreams;
  piece.stream = id;
  return piece.memory;
}

}  // namespace lab::cuda
