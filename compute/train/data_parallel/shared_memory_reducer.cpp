#include "compute/train/data_parallel/shared_memory_reducer.h"

#include <algorithm>
#include <utility>

#include "compute/core/backoff.h"
#include "compute/core/error.h"
#include "compute/kernels/ops/vector_ops.h"
#include "compute/measure/measure.h"

namespace lab {
namespace {

constexpr std::int64_t kChunkFloats = 16 * 1024;  // 128 KiB for two replicas, within L2
constexpr double kSpin_s = 100e-6;

}  // namespace

// Counters start at 0 in each step.
struct SharedMemoryReducer::Bucket {
  GradientBucket range;
  std::int64_t chunks = 0;
  alignas(64) std::atomic<std::size_t> arrived = 0;  // replicas
  alignas(64) std::atomic<std::int64_t> next_sum = 0;
  std::atomic<std::int64_t> sums = 0;  // chunks summed
  std::atomic<bool> ranks_done = false;
  alignas(64) std::atomic<std::int64_t> next_copy = 0;
  std::atomic<std::int64_t> copies = 0;
  std::unique_ptr<PendingSum> pending;  // job's thread only

  std::pair<std::int64_t, std::int64_t> chunk(std::int64_t i) const {
    const std::int64_t begin = range.begin + i * kChunkFloats;
    return {begin, std::min(begin + kChunkFloats, range.end)};
  }
};

// State of the thread that drives the replica; aligned so that no two share a cache line.
struct alignas(64) SharedMemoryReducer::Replica {
  std::unique_ptr<GradientCopies> copies;  // on a GPU
  SumTimes times;
  bool full = false;                 // its backward has filled the last bucket
  std::size_t arrived = 0;           // buckets of a GPU whose copies have been counted
  std::size_t open = 0;              // earlier buckets need nothing more from this replica
  std::vector<std::int64_t> summed;  // chunks it summed, per bucket
};

SharedMemoryReducer::SharedMemoryReducer(std::vector<Source> replicas,
                                         std::span<const GradientBucket> buckets, RankGroup& ranks,
                                         bool spin)
    : ranks_(ranks), spin_(spin) {
  for (Source& source : replicas) {
    gradients_.push_back(source.gradients);
    auto& replica = *replicas_.emplace_back(std::make_unique<Replica>());
    replica.copies = std::move(source.copies);
    replica.summed.resize(buckets.size());
  }
  sum_targets_ = ranks.single() ? gradients_ : std::vector<float*>{gradients_.front()};
  sources_.reserve(gradients_.size());
  for (const GradientBucket& range : buckets) {
    auto& bucket = *buckets_.emplace_back(std::make_unique<Bucket>());
    bucket.range = range;
    bucket.chunks = (range.end - range.begin + kChunkFloats - 1) / kChunkFloats;
  }
}

SharedMemoryReducer::~SharedMemoryReducer() = default;

void SharedMemoryReducer::begin_step(std::span<const std::int64_t> images) {
  sources_.clear();
  for (std::size_t i = 0; i < gradients_.size(); ++i) {
    if (images[i] > 0) sources_.push_back(gradients_[i]);
  }
  for (const auto& bucket : buckets_) {
    bucket->arrived = 0;
    bucket->next_sum = bucket->sums = 0;
    bucket->next_copy = bucket->copies = 0;
    bucket->ranks_done = false;
  }
  next_rank_sum_ = 0;
  for (const auto& replica : replicas_) {
    replica->times = {};
    replica->full = false;
    replica->arrived = replica->open = 0;
    if (replica->copies) replica->copies->begin_step();
    std::fill(replica->summed.begin(), replica->summed.end(), 0);
  }
}

void SharedMemoryReducer::ready(std::size_t replica, std::size_t bucket) {
  if (observer_ != nullptr) observer_->ready(replica, bucket);
  replicas_[replica]->full = bucket + 1 == buckets_.size();
  if (replicas_[replica]->copies) return replicas_[replica]->copies->send(bucket);
  arrive(bucket);
}

void SharedMemoryReducer::arrive(std::size_t bucket) {
  if (buckets_[bucket]->arrived.fetch_add(1) + 1 == gradients_.size()) wake();
}

void SharedMemoryReducer::progress(std::size_t replica) {
  Replica& self = *replicas_[replica];
  if (self.full && !self.copies) return;  // nothing is left to hide sums behind: finish() does them
  const double begin = monotonic_s();
  if (replica == 0) rank_sums_under_way_ = false;
  const bool worked = advance(replica, /*all=*/false);
  // Testing sums between processes advances them, whether it completes one or not.
  const bool moved = replica == 0 && rank_sums_under_way_;
  if (worked || moved) self.times.work_s += monotonic_s() - begin;
}

void SharedMemoryReducer::finish(std::size_t replica, std::stop_token stop) {
  Replica& self = *replicas_[replica];
  self.times.hidden_s = self.times.work_s;
  const bool polls = self.copies || (replica == 0 && !ranks_.single());
  Backoff backoff;
  while (true) {
    const std::int64_t seen = news_.load();
    const double begin = monotonic_s();
    const bool worked = advance(replica, /*all=*/true);
    if (worked) self.times.work_s += monotonic_s() - begin;
    if (is_finished(self)) return;
    throw_if_cancelled(stop);
    if (worked) {
      backoff = Backoff();
    } else if (polls) {
      backoff.pause();  // the progress of a GPU or of another process wakes no thread
    } else {
      wait(seen, stop);
    }
  }
}

bool SharedMemoryReducer::is_finished(const Replica& self) const {
  return self.open == buckets_.size() && (!self.copies || self.copies->complete());
}

// Returns true if there was work to do.
bool SharedMemoryReducer::advance(std::size_t replica, bool all) {
  Replica& self = *replicas_[replica];
  const bool drives_ranks = replica == 0 && !ranks_.single();
  if (drives_ranks) ranks_.check();
  while (self.copies && self.arrived < self.copies->arrived()) arrive(self.arrived++);
  bool worked = false;
  for (std::size_t b = self.open; b < buckets_.size(); ++b) {
    Bucket& bucket = *buckets_[b];
    if (bucket.arrived.load() < gradients_.size()) break;
    worked = sum_observed(replica, b, all) || worked;
    if (drives_ranks) worked = sum_ranks(b) || worked;
    if (bucket.ranks_done) worked = copy_chunks(replica, bucket, all) || worked;
    if (b != self.open || !is_final(bucket)) continue;
    if (self.copies) self.copies->bring_back(b);
    ++self.open;
  }
  return worked;
}

bool SharedMemoryReducer::sum_observed(std::size_t replica, std::size_t b, bool all) {
  Replica& self = *replicas_[replica];
  if (observer_ == nullptr) return sum_chunks(self, b, all);
  const double begin_s = monotonic_s();
  const bool worked = sum_chunks(self, b, all);
  if (worked) observer_->summed(replica, b, begin_s, monotonic_s());
  return worked;
}

bool SharedMemoryReducer::sum_chunks(Replica& self, std::size_t b, bool all) {
  Bucket& bucket = *buckets_[b];
  const auto replicas = static_cast<std::int64_t>(gradients_.size());
  const std::int64_t fair = (bucket.chunks + replicas - 1) / replicas;
  // The sum of a single array is the array itself.
  const bool nothing_to_add =
      std::equal(sources_.begin(), sources_.end(), sum_targets_.begin(), sum_targets_.end());
  const bool trivial = nothing_to_add && sources_.size() == 1;
  bool worked = false;
  while (bucket.next_sum.load() < bucket.chunks && (all || self.summed[b] < fair)) {
    const std::int64_t chunk = bucket.next_sum.fetch_add(1);
    if (chunk >= bucket.chunks) break;
    const auto [begin, end] = bucket.chunk(chunk);
    if (!trivial) simd::sum_arrays(sources_, sum_targets_, begin, end);
    ++self.summed[b];
    worked = true;
    if (bucket.sums.fetch_add(1) + 1 == bucket.chunks) wake();
  }
  return worked;
}

// Sums start in the same order on every process, regardless of the bucket that is ready first.
bool SharedMemoryReducer::sum_ranks(std::size_t b) {
  Bucket& bucket = *buckets_[b];
  if (bucket.ranks_done) return false;
  if (!bucket.pending) {
    if (b != next_rank_sum_ || bucket.sums.load() < bucket.chunks) return false;
    const auto& range = bucket.range;
    bucket.pending = ranks_.start_sum(
        {gradients_.front() + range.begin, static_cast<std::size_t>(range.end - range.begin)});
    ++next_rank_sum_;
  }
  rank_sums_under_way_ = true;
  if (!bucket.pending->test()) return false;
  bucket.pending.reset();
  bucket.ranks_done = true;
  wake();
  return true;
}

bool SharedMemoryReducer::copy_chunks(std::size_t replica, Bucket& bucket, bool all) {
  if (gradients_.size() == 1) return false;
  const std::span<float* const> others = std::span(gradients_).subspan(1);
  const float* const first = gradients_.front();
  bool worked = false;
  // One chunk at a time while backward runs; none on the job's thread, which drives the rank sums.
  while (bucket.next_copy.load() < bucket.chunks && (all || (!worked && replica != 0))) {
    const std::int64_t chunk = bucket.next_copy.fetch_add(1);
    if (chunk >= bucket.chunks) break;
    const auto [begin, end] = bucket.chunk(chunk);
    simd::sum_arrays({&first, 1}, others, begin, end);
    worked = true;
    if (bucket.copies.fetch_add(1) + 1 == bucket.chunks) wake();
  }
  return worked;
}

bool SharedMemoryReducer::is_final(const Bucket& bucket) const {
  if (ranks_.single()) return bucket.sums.load() == bucket.chunks;
  return bucket.ranks_done && (gradients_.size() == 1 || bucket.copies.load() == bucket.chunks);
}

// Returns once `news_` differs from `seen` or `stop` is requested.
void SharedMemoryReducer::wait(std::int64_t seen, const std::stop_token& stop) {
  const auto news = [&] { return news_.load() != seen; };
  if (spin_) {
    const double end = monotonic_s() + kSpin_s;
    while (monotonic_s() < end) {
      if (news() || stop.stop_requested()) return;
    }
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, stop, news);
}

void SharedMemoryReducer::wake() {
  {
    const std::lock_guard lock(mutex_);
    ++news_;
  }
  changed_.notify_all();
}

SumTimes SharedMemoryReducer::times(std::size_t replica) const {
  return replicas_[replica]->times;
}

}  // namespace lab
