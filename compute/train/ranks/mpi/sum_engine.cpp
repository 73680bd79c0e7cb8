#include "compute/train/ranks/mpi/sum_engine.h"

#include <algorithm>
#include <utility>

#include "compute/kernels/ops/vector_ops.h"
#include "compute/train/ranks/mpi/messages.h"

namespace lab::mpi {
namespace {

// A piece is still in L2 when it is added, and enough pieces are in flight that no rank waits for
// the next message.
constexpr std::size_t kPieceFloats = std::size_t{256} << 10;
constexpr std::size_t kActivePieces = 16;
// Minimum slice of one rank with many ranks, for which the cost of a message is negligible.
constexpr std::size_t kLeastSliceFloats = std::size_t{16} << 10;

std::span<const std::byte> bytes_of(std::span<float> values) {
  return std::as_bytes(values);
}

}  // namespace

SumEngine::SumEngine(MPI_Comm comm, int rank, int size, DrainBudget& budget)
    : comm_(comm), rank_(rank), size_(size), budget_(budget) {}

std::shared_ptr<SumState> SumEngine::start(std::span<float> values) {
  auto sum = std::make_shared<SumState>();
  const std::size_t most =
      std::max(kPieceFloats, kLeastSliceFloats * static_cast<std::size_t>(size_));
  for (std::size_t at = 0; at < values.size(); at += most) {
    queue_.push_back({values.subspan(at, std::min(most, values.size() - at)), sequence_++, sum});
    ++sum->pieces_left;
  }
  progress();
  return sum;
}

void SumEngine::progress() {
  for (auto it = active_.begin(); it != active_.end();) {
    if (!advance(*it)) {
      ++it;
      continue;
    }
    --it->piece.sum->pieces_left;
    spare_staging_.push_back(std::move(it->staging));
    it = active_.erase(it);
  }
  while (active_.size() < kActivePieces && !queue_.empty()) {
    Piece piece = std::move(queue_.front());
    queue_.pop_front();
    begin(std::move(piece));
  }
}

void SumEngine::forget() {
  queue_.clear();
  active_.clear();
}

void SumEngine::begin_round(std::uint32_t round) {
  forget();
  round_ = round;
  sequence_ = 0;
}

// Slices are contiguous, and their sizes differ by at most one float.
std::span<float> SumEngine::slice(std::span<float> values, int rank) const {
  const auto n = static_cast<std::size_t>(size_);
  const auto r = static_cast<std::size_t>(rank);
  const std::size_t begin = values.size() * r / n;
  return values.subspan(begin, values.size() * (r + 1) / n - begin);
}

void SumEngine::begin(Piece piece) {
  std::vector<float> staging;
  if (!spare_staging_.empty()) {
    staging = std::move(spare_staging_.back());
    spare_staging_.pop_back();
  }
  Active& active = active_.emplace_back(
      Active{std::move(piece), std::move(staging), false, RequestSet(budget_)});
  const std::span<float> values = active.piece.values;
  const std::size_t own = slice(values, rank_).size();
  active.staging.resize(own * static_cast<std::size_t>(size_ - 1));
  const int tag = data_tag(round_, active.piece.sequence, Traffic::ReduceScatter);
  for (int i = 0; i < size_ - 1; ++i) {
    const std::span<float> place(active.staging.data() + own * static_cast<std::size_t>(i), own);
    if (own > 0) active.requests.receive(std::as_writable_bytes(place), peer(i), tag, comm_);
  }
  for (int i = 0; i < size_ - 1; ++i) {
    const std::span<float> theirs = slice(values, peer(i));
    if (!theirs.empty()) active.requests.send(bytes_of(theirs), peer(i), tag, comm_);
  }
}

bool SumEngine::advance(Active& active) {
  if (!active.requests.test()) return false;
  if (active.gathering) return true;
  const std::span<float> own = slice(active.piece.values, rank_);
  std::vector<const float*> parts;
  parts.reserve(static_cast<std::size_t>(size_));
  const float* staged = active.staging.data();
  for (int r = 0; r < size_; ++r) {
    parts.push_back(r == rank_ ? own.data() : std::exchange(staged, staged + own.size()));
  }
  float* const target = own.data();
  simd::sum_arrays(parts, {&target, 1}, 0, static_cast<std::int64_t>(own.size()));
  begin_gather(active);
  return active.requests.test();
}

void SumEngine::begin_gather(Active& active) {
  active.gathering = true;
  const std::span<float> values = active.piece.values;
  const int tag = data_tag(round_, active.piece.sequence, Traffic::AllGather);
  const std::span<float> own = slice(values, rank_);
  for (int i = 0; i < size_ - 1; ++i) {
    const std::span<float> theirs = slice(values, peer(i));
    if (!theirs.empty()) {
      active.requests.receive(std::as_writable_bytes(theirs), peer(i), tag, comm_);
    }
    if (!own.empty()) active.requests.send(bytes_of(own), peer(i), tag, comm_);
  }
}

}  // namespace lab::mpi
