#include "compute/train/data_parallel/gradient_copies.h"

#include "compute/core/error.h"

namespace lab {

GradientCopies::GradientCopies(GpuDevice& gpu, float* on_gpu, float* on_host,
                               std::span<const GradientBucket> buckets)
    : gpu_(gpu),
      on_gpu_(on_gpu),
      on_host_(on_host),
      to_host_(gpu.make_stream()),
      to_gpu_(gpu.make_stream()),
      returned_(gpu.make_event()) {
  for (const GradientBucket& range : buckets) {
    buckets_.push_back({range, gpu.make_event(), gpu.make_event()});
  }
}

GradientCopies::~GradientCopies() {
  try {
    to_host_->synchronise();
    to_gpu_->synchronise();
  } catch (const Error&) {  // of a lost GPU, which copies nothing
  }
}

void GradientCopies::begin_step() {
  sent_ = arrived_ = brought_back_ = 0;
}

void GradientCopies::send(std::size_t bucket) {
  const Bucket& one = buckets_[bucket];
  one.final->record(gpu_.main_stream());
  to_host_->wait(*one.final);
  gpu_.copy(GpuCopy::DeviceToHost, on_host_ + one.range.begin, on_gpu_ + one.range.begin,
            one.range.bytes(), *to_host_);
  one.arrived->record(*to_host_);
  ++sent_;
}

std::size_t GradientCopies::arrived() {
  while (arrived_ < sent_ && buckets_[arrived_].arrived->done()) ++arrived_;
  return arrived_;
}

void GradientCopies::bring_back(std::size_t bucket) {
  const GradientBucket& range = buckets_[bucket].range;
  gpu_.copy(GpuCopy::HostToDevice, on_gpu_ + range.begin, on_host_ + range.begin, range.bytes(),
            *to_gpu_);
  if (++brought_back_ == buckets_.size()) returned_->record(*to_gpu_);
}

bool GradientCopies::complete() {
  return brought_back_ == buckets_.size() && returned_->done();
}

}  // namespace lab
