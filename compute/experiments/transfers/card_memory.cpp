#include "compute/experiments/transfers/card_memory.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "compute/gpu/gpu_transfers.h"

namespace lab {
namespace {

constexpr std::int64_t kPiece_words = 1 << 18;  // words between two looks at the stop token

TensorInfo named(const char* name, std::int64_t bytes) {
  TensorInfo info;
  info.name = name;
  info.shape = {bytes};
  info.dtype = DType::U8;
  return info;
}

}  // namespace

CardMemory::CardMemory(DeviceContext& owner, MemoryKind kind, GpuDevice& card, std::int64_t bytes,
                       std::stop_token stop)
    : owner_(owner), bytes_(bytes), stop_(std::move(stop)) {
  if (owner.card() == nullptr && kind == MemoryKind::Pinned) {
    pinned_ = card.allocate_pinned(bytes);
    data_ = pinned_->data();
    return;
  }
  buffer_ = Buffer(owner, bytes, named("transfer", bytes));
  data_ = buffer_.data();
  // Other streams may use it from now on.
  if (owner.card() != nullptr) owner.card()->main_stream().synchronise();
}

template <typename Body>
void CardMemory::for_pieces(const Body& body) {
  const std::int64_t words = bytes_ / 4;
  const auto bound = owner_.threads().bind_caller();
  owner_.threads().parallel_for(words, kPiece_words, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end && !stop_.stop_requested(); i += kPiece_words) {
      body(i, std::min(end, i + kPiece_words));
    }
  });
}

void CardMemory::fill(std::uint32_t seed) {
  if (GpuDevice* card = owner_.card()) {
    card->transfers().fill_pattern(words(), bytes_ / 4, seed, card->main_stream());
    card->main_stream().synchronise();
    return;
  }
  for_pieces([&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) words()[i] = pattern_word(i, seed);
  });
}

std::int64_t CardMemory::count_wrong(std::uint32_t seed) {
  if (owner_.card() != nullptr) return count_on_card(seed);
  std::atomic<std::int64_t> wrong = 0;
  for_pieces([&](std::int64_t begin, std::int64_t end) {
    std::int64_t mine = 0;
    for (std::int64_t i = begin; i < end; ++i) mine += words()[i] != pattern_word(i, seed) ? 1 : 0;
    wrong += mine;
  });
  return wrong;
}

std::int64_t CardMemory::count_on_card(std::uint32_t seed) {
  GpuDevice& card = *owner_.card();
  GpuStream& stream = card.main_stream();
  Buffer count(owner_, sizeof(std::uint64_t), named("transfer count", sizeof(std::uint64_t)));
  std::uint64_t wrong = 0;
  card.copy(GpuCopy::HostToDevice, count.data(), &wrong, sizeof wrong, stream);
  card.transfers().count_mismatches(words(), bytes_ / 4, seed,
                                    reinterpret_cast<std::uint64_t*>(count.data()), stream);
  card.copy(GpuCopy::DeviceToHost, &wrong, count.data(), sizeof wrong, stream);
  stream.synchronise();
  return static_cast<std::int64_t>(wrong);
}

}  // namespace lab
