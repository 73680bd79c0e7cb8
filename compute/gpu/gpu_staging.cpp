#include "compute/gpu/gpu_staging.h"

#include <algorithm>

#include "compute/core/error.h"
#include "compute/core/units.h"

namespace lab {
namespace {

// Large enough to amortise the start of a copy, small enough for the first copy to begin early.
constexpr std::int64_t kPieceBytes = 4 * kMiB;

}  // namespace

bool GpuStaging::ready() {
  if (tried_) return pieces_.back().memory != nullptr;
  tried_ = true;
  try {
    for (Piece& piece : pieces_) {
      piece.copied = gpu_.make_event();
      piece.memory = gpu_.allocate_pinned(kPieceBytes);
    }
  } catch (const Error& error) {
    pieces_ = {};
    if (error.code() != Errc::OutOfMemory) {
      tried_ = false;
      throw;
    }
  }
  return pieces_.back().memory != nullptr;
}

void GpuStaging::to_gpu(std::byte* to, const std::byte* from, std::int64_t bytes,
                        const Move& move) {
  const std::lock_guard lock(mutex_);
  GpuStream& stream = gpu_.main_stream();
  if (!ready()) {
    gpu_.copy(GpuCopy::HostToDevice, to, from, bytes, stream);
    return stream.synchronise();
  }
  for (std::int64_t begin = 0, turn = 0; begin < bytes; begin += kPieceBytes, ++turn) {
    Piece& piece = pieces_[static_cast<std::size_t>(turn % 2)];
    const std::int64_t size = std::min(kPieceBytes, bytes - begin);
    if (turn >= 2) piece.copied->synchronise();
    move(piece.memory->data(), from + begin, size);
    gpu_.copy(GpuCopy::HostToDevice, to + begin, piece.memory->data(), size, stream);
    piece.copied->record(stream);
  }
  stream.synchronise();
}

void GpuStaging::from_gpu(std::byte* to, const std::byte* from, std::int64_t bytes,
                          const Move& move) {
  const std::lock_guard lock(mutex_);
  GpuStream& stream = gpu_.main_stream();
  if (!ready()) {
    gpu_.copy(GpuCopy::DeviceToHost, to, from, bytes, stream);
    return stream.synchronise();
  }
  const auto start = [&](std::int64_t begin) {
    if (begin >= bytes) return;
    Piece& piece = pieces_[static_cast<std::size_t>(begin / kPieceBytes % 2)];
    gpu_.copy(GpuCopy::DeviceToHost, piece.memory->data(), from + begin,
              std::min(kPieceBytes, bytes - begin), stream);
    piece.copied->record(stream);
  };
  start(0);
  for (std::int64_t begin = 0; begin < bytes; begin += kPieceBytes) {
    start(begin + kPieceBytes);
    const Piece& piece = pieces_[static_cast<std::size_t>(begin / kPieceBytes % 2)];
    piece.copied->synchronise();
    move(to + begin, piece.memory->data(), std::min(kPieceBytes, bytes - begin));
  }
}

}  // namespace lab
