#include "compute/train/data_parallel/gpu_sums.h"

#include <algorithm>

#include "compute/core/backoff.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/monotonic_clock.h"
#include "compute/machine/machine.h"
#include "compute/tensor/buffer.h"

namespace lab {
namespace {

constexpr std::int64_t kPieceAlignment = 64;  // floats

struct SumPiece {
  std::int64_t begin = 0, end = 0;
  std::int64_t floats() const { return end - begin; }
};

std::int64_t piece_length(std::int64_t floats, std::int64_t pieces) {
  const std::int64_t even = (floats + pieces - 1) / pieces;
  return (even + kPieceAlignment - 1) / kPieceAlignment * kPieceAlignment;
}

class PeerSums final : public GpuSums {
 public:
  PeerSums(std::span<const GpuArray> arrays, std::int64_t longest);
  ~PeerSums() override { wait(); }
  void queue(std::int64_t begin, std::int64_t end) override;
  void abandon() noexcept override { limit_wait(); }  // of a copy that hangs

 private:
  // A member's values of other members' pieces, and events in its stream.
  struct Extra {
    Buffer received;  // one piece of each other member
    std::unique_ptr<GpuEvent> sent, gathered;
  };
  std::size_t size() const { return extras_.size(); }
  SumPiece piece(std::size_t member, std::int64_t begin, std::int64_t end) const;
  float* received(std::size_t member, std::size_t from) const;
  void copy(std::size_t from, std::size_t to, float* target, const SumPiece& piece);
  void send_pieces(std::size_t from, std::int64_t begin, std::int64_t end);
  void add_piece(std::size_t member, const SumPiece& piece);

  const std::int64_t slot_;  // floats
  std::vector<Extra> extras_;
};

PeerSums::PeerSums(std::span<const GpuArray> arrays, std::int64_t longest)
    : GpuSums(arrays), slot_(piece_length(longest, static_cast<std::int64_t>(arrays.size()))) {
  const auto others = static_cast<std::int64_t>(arrays.size()) - 1;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    GpuDevice& gpu = *members()[i].gpu;
    extras_.push_back(
        {named_buffer(*arrays[i].device, others * slot_ * 4, tr("received gradients")),
         gpu.make_event(), gpu.make_event()});
    gpu.main_stream().synchronise();  // the memory is usable by all streams from here on
  }
}

SumPiece PeerSums::piece(std::size_t member, std::int64_t begin, std::int64_t end) const {
  const std::int64_t length = piece_length(end - begin, static_cast<std::int64_t>(size()));
  const std::int64_t first = begin + static_cast<std::int64_t>(member) * length;
  return {std::min(first, end), std::min(first + length, end)};
}

float* PeerSums::received(std::size_t member, std::size_t from) const {
  const std::size_t slot = from < member ? from : from - 1;
  auto* const first =
      reinterpret_cast<float*>(const_cast<std::byte*>(extras_[member].received.data()));
  return first + static_cast<std::int64_t>(slot) * slot_;
}

void PeerSums::copy(std::size_t from, std::size_t to, float* target, const SumPiece& piece) {
  const Member& source = members()[from];
  source.gpu->copy_to_peer(*members()[to].gpu, reinterpret_cast<std::byte*>(target),
                           reinterpret_cast<const std::byte*>(source.values + piece.begin),
                           piece.floats() * 4, *source.stream);
}

void PeerSums::send_pieces(std::size_t from, std::int64_t begin, std::int64_t end) {
  for (std::size_t to = 0; to < size(); ++to) {
    const SumPiece theirs = piece(to, begin, end);
    if (to != from && theirs.floats() > 0) copy(from, to, received(to, from), theirs);
  }
  extras_[from].sent->record(*members()[from].stream);
}

// Sums in the order of the members. Partial sums are kept in a received piece; the last sum is
// written to the member's own values, which no earlier sum may overwrite.
void PeerSums::add_piece(std::size_t member, const SumPiece& piece) {
  const Member& self = members()[member];
  float* const own = self.values + piece.begin;
  const auto values_of = [&](std::size_t i) { return i == member ? own : received(member, i); };
  float* sum = values_of(0);
  for (std::size_t i = 1; i < size(); ++i) {
    float* const next = values_of(i);
    float* const target = i + 1 == size() ? own : sum;
    self.gpu->add({.x = reinterpret_cast<const std::byte*>(sum),
                   .y = reinterpret_cast<const std::byte*>(next),
                   .z = reinterpret_cast<std::byte*>(target),
                   .count = piece.floats()},
                  *self.stream);
  }
}

void PeerSums::queue(std::int64_t begin, std::int64_t end) {
  for (std::size_t i = 0; i < size(); ++i) send_pieces(i, begin, end);
  for (std::size_t i = 0; i < size(); ++i) {
    GpuStream& stream = *members()[i].stream;
    for (std::size_t j = 0; j < size(); ++j) {
      if (j != i) stream.wait(*extras_[j].sent);
    }
    const SumPiece own = piece(i, begin, end);
    if (own.floats() > 0) add_piece(i, own);
    for (std::size_t j = 0; j < size(); ++j) {
      if (j != i && own.floats() > 0) copy(i, j, members()[j].values + own.begin, own);
    }
    extras_[i].gathered->record(stream);
  }
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::size_t j = 0; j < size(); ++j) {
      if (j != i) members()[i].stream->wait(*extras_[j].gathered);
    }
  }
}

}  // namespace

// Gives each GPU access to the memory of the others, where the machine allows it.
class GpuSums::PeerAccess {
 public:
  // Takes back all access if a GPU refuses one.
  explicit PeerAccess(std::span<const GpuSums::Member> members) : PeerAccess() {
    for (const GpuSums::Member& from : members) {
      for (const GpuSums::Member& to : members) {
        if (&from == &to || !from.gpu->can_access(*to.gpu)) continue;
        from.gpu->set_peer_access(*to.gpu, true);
        pairs_.emplace_back(from.gpu, to.gpu);
      }
    }
  }
  ~PeerAccess() {
    for (const auto& [from, to] : pairs_) {
      try {
        from->set_peer_access(*to, false);
      } catch (const Error&) {  // of a lost GPU, which accesses nothing
      }
    }
  }
  PeerAccess(const PeerAccess&) = delete;
  PeerAccess& operator=(const PeerAccess&) = delete;

 private:
  PeerAccess() = default;  // once it has returned, an exception destroys the object

  std::vector<std::pair<GpuDevice*, GpuDevice*>> pairs_;
};

GpuSums::GpuSums(std::span<const GpuArray> arrays) {
  for (const GpuArray& array : arrays) {
    GpuDevice& gpu = *array.device->gpu();
    members_.push_back({&gpu, array.values, gpu.make_stream()});
  }
  access_ = std::make_unique<PeerAccess>(members_);
}

GpuSums::~GpuSums() = default;

bool GpuSums::wait() noexcept {
  constexpr double kLongest_s = 5;  // if limited
  bool limited = wait_is_limited_;
  const auto attempt = [&limited](const auto& call) {
    try {
      call();
    } catch (const Error&) {  // a lost GPU has no work left
      limited = true;
    }
  };
  std::vector<std::unique_ptr<GpuEvent>> ends(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    attempt([&] {
      auto end = members_[i].gpu->make_event();
      end->record(*members_[i].stream);
      ends[i] = std::move(end);
    });
  }
  double unlimited_until_s = monotonic_s();
  for (Backoff backoff;; backoff.pause()) {
    for (std::unique_ptr<GpuEvent>& end : ends) {
      bool over = true;
      if (end != nullptr) attempt([&] { over = end->done(); });
      if (over) end = nullptr;
    }
    if (std::ranges::none_of(ends, [](const auto& end) { return end != nullptr; })) return true;
    if (!limited) unlimited_until_s = monotonic_s();
    if (monotonic_s() - unlimited_until_s > kLongest_s) return false;
  }
}

std::unique_ptr<GpuSums> make_peer_sums(std::span<const GpuArray> arrays, std::int64_t longest) {
  return std::make_unique<PeerSums>(arrays, longest);
}

}  // namespace lab
