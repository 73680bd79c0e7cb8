#include "compute/experiments/transfers/transfer_memory.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "compute/gpu/gpu_transfers.h"

namespace lab {
namespace {

constexpr std::int64_t kPiece_words = 1 << 18;  // words between polls of the stop token

TensorInfo named(const char* name, std::int64_t bytes) {
  TensorInfo info;
  info.name = name;
  info.shape = {bytes};
  info.dtype = DType::U8;
  return info;
}

}  // namespace

TransferMemory::TransferMemory(DeviceContext& owner, MemoryKind kind, GpuDevice& gpu,
                               std::int64_t bytes, std::stop_token stop)
    : owner_(owner), bytes_(bytes), stop_(std::move(stop)) {
  if (owner.gpu() == nullptr && kind == MemoryKind::Pinned) {
    pinned_ = gpu.allocate_pinned(bytes);
    data_ = pinned_->data();
    return;
  }
  buffer_ = Buffer(owner, bytes, named("transfer", bytes));
  data_ = buffer_.data();
  // From here on, other streams may use the memory.
  if (owner.gpu() != nullptr) owner.gpu()->main_stream().synchronise();
}

template <typename Body>
void TransferMemory::for_pieces(const Body& body) {
  const std::int64_t words = bytes_ / 4;
  const auto bound = owner_.threads().bind_caller();
  owner_.threads().parallel_for(words, kPiece_words, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end && !stop_.stop_requested(); i += kPiece_words) {
      body(i, std::min(end, i + kPiece_words));
    }
  });
}

void TransferMemory::fill(std::uint32_t seed) {
  if (GpuDevice* gpu = owner_.gpu()) {
    gpu->transfers().fill_pattern(words(), bytes_ / 4, seed, gpu->main_stream());
    gpu->main_stream().synchronise();
    return;
  }
  for_pieces([&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) words()[i] = pattern_word(i, seed);
  });
}

std::int64_t TransferMemory::count_mismatches(std::uint32_t seed) {
  if (owner_.gpu() != nullptr) return count_on_gpu(seed);
  std::atomic<std::int64_t> wrong = 0;
  for_pieces([&](std::int64_t begin, std::int64_t end) {
    std::int64_t mine = 0;
    for (std::int64_t i = begin; i < end; ++i) mine += words()[i] != pattern_word(i, seed) ? 1 : 0;
    wrong += mine;
  });
  return wrong;
}

std::int64_t TransferMemory::count_on_gpu(std::uint32_t seed) {
  GpuDevice& gpu = *owner_.gpu();
  GpuStream& stream = gpu.main_stream();
  Buffer count(owner_, sizeof(std::uint64_t), named("transfer count", sizeof(std::uint64_t)));
  std::uint64_t wrong = 0;
  gpu.copy(GpuCopy::HostToDevice, count.data(), &wrong, sizeof wrong, stream);
  gpu.transfers().count_mismatches(words(), bytes_ / 4, seed,
                                   reinterpret_cast<std::uint64_t*>(count.data()), stream);
  gpu.copy(GpuCopy::DeviceToHost, &wrong, count.data(), sizeof wrong, stream);
  stream.synchronise();
  return static_cast<std::int64_t>(wrong);
}

}  // namespace lab
