#include "compute/train/replica.h"

#include <algorithm>

#include "compute/nn/models.h"

namespace lab {

Replica::Replica(DeviceContext& device, const std::string& model, const nn::SgdOptions& sgd,
                 std::int64_t capacity, std::uint64_t seed)
    : network_(nn::plan_model(model), device, capacity, seed), sgd_(network_, sgd) {}

nn::BatchResult Replica::compute(const BatchLoader& loader, std::int64_t step, BatchSlice slice,
                                 double divisor, const nn::PassOptions& options) {
  const std::int64_t images = slice.end - slice.begin;
  if (images == 0) return {};
  loader.load(step, slice, device().threads(), network_.input(), network_.labels());
  network_.forward(images, /*training=*/true, options);
  const nn::BatchResult result = network_.loss(images, divisor);
  network_.backward(images, options);
  return result;
}

void Replica::copy_state(Replica& from) {
  std::ranges::copy(from.network().flat_parameters(), network_.flat_parameters().begin());
  std::ranges::copy(from.sgd().velocity(), sgd_.velocity().begin());
  sgd_.set_started(from.sgd().started());
  copy_statistics(from.network().running(), network_.running());
}

void copy_statistics(const std::deque<nn::RunningStatistics>& from,
                     std::deque<nn::RunningStatistics>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i].mean = from[i].mean;
    to[i].variance = from[i].variance;
    to[i].batches = from[i].batches;
  }
}

std::vector<GradientBucket> buckets_of(nn::Network& network, std::int64_t bucket_bytes) {
  std::vector<std::int64_t> offsets;
  const float* const first = network.flat_gradients().data();
  for (const nn::Parameter& p : network.parameters()) offsets.push_back(p.grad - first);
  offsets.push_back(static_cast<std::int64_t>(network.flat_gradients().size()));
  return plan_buckets(offsets, bucket_bytes);
}

BucketCountdown::BucketCountdown(GradientReducer* reducer, std::size_t replica,
                                 std::span<const GradientBucket> buckets)
    : reducer_(reducer), replica_(replica), buckets_(buckets), missing_(buckets.size()) {}

void BucketCountdown::reset() {
  next_ = 0;
  for (std::size_t b = 0; b < missing_.size(); ++b) missing_[b] = buckets_[b].parameters;
}

void BucketCountdown::gradient_ready(std::size_t parameter) {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const std::size_t first = buckets_[b].first_parameter;
    if (parameter < first || parameter >= first + buckets_[b].parameters) continue;
    --missing_[b];
  }
  announce();
}

void BucketCountdown::all_ready() {
  std::fill(missing_.begin(), missing_.end(), 0);
  announce();
}

void BucketCountdown::announce() {
  if (reducer_ == nullptr) return;
  while (next_ < missing_.size() && missing_[next_] == 0) reducer_->ready(replica_, next_++);
}

}  // namespace lab
