#pragma once
// Copies between the host and a card, on a card, and between two cards.
#include <stop_token>
#include <string>
#include <vector>

#include "compute/measure/gated_clock.h"
#include "compute/transfer/card_case.h"
#include "compute/transfer/card_memory.h"

namespace lab {

// The card that does the work of a series: of two, the one that writes or reads.
Device working_card(const TransferSeries& series);

// Direct access of the working card to the other one's memory, while it lives.
class PeerGuard {
 public:
  PeerGuard(Machine& machine, const TransferSeries& series);
  ~PeerGuard();
  PeerGuard(const PeerGuard&) = delete;
  PeerGuard& operator=(const PeerGuard&) = delete;

 private:
  GpuDevice* from_ = nullptr;  // null: not between two cards, or not asked for
  GpuDevice* to_ = nullptr;
};

class CardCopy final : public CardCase {
 public:
  CardCopy(Machine& machine, const TransferSeries& series, std::int64_t bytes,
           std::stop_token stop);
  double operate(int times) override;
  void spoil() override;
  std::string check() override;

 private:
  // One direction.
  struct Way {
    GpuDevice* from;  // null: the host
    GpuDevice* to;
    CardMemory source, result;
    std::uint32_t seed;
  };
  void queue_copies(Way& way, int times, GpuStream& stream);
  void queue_copy(Way& way, std::int64_t begin, std::int64_t bytes, GpuStream& stream);

  const TransferSeries series_;
  const std::int64_t bytes_;
  const std::stop_token stop_;
  GpuDevice& worker_;
  std::vector<Way> ways_;
  const PeerGuard access_;
  GatedClock clock_;  // last: its end waits for what uses the memory
};

}  // namespace lab
