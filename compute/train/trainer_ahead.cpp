// Steps that GPUs run ahead of the results that the host has read.
#include <fmt/format.h>

#include <utility>

#include "compute/train/trainer.h"

namespace lab {

bool Trainer::can_queue() {
  if (alone()) return replicas_.front()->device().gpu() != nullptr;
  return gpu_reducer_ != nullptr && auto_shares_ == nullptr;
}

void Trainer::begin_steps() {
  alone() ? network().begin_steps() : gpu_reducer_->begin_series();
}

void Trainer::queue_step(const BatchLoader& loader, std::int64_t step, double lr,
                         const nn::PassOptions& options) {
  const std::int64_t images = loader.batch_size(step);  // at most the trainer's
  if (alone()) {
    replicas_.front()->queue_with_update(loader, step, lr, options);
    queued_.push_back({.images = images});
    return;
  }
  if (queued() == nn::kMaxQueuedSteps) {
    throw Error(Errc::Internal, fmt::format("{}: {} steps are queued", network().name(), queued()));
  }
  divide(images);
  grow_replicas(images_);
  find_member_images();
  gpu_reducer_->begin_ahead(member_images_);
  options_ = &options;
  std::stop_source failure;  // a requested stop waits for the end of the step
  run_replicas([&](std::size_t i) { queue_with_sums(i, loader, step, lr, failure.get_token()); },
               failure);
  queued_.push_back({.images = images, .by_device = images_});
}

void Trainer::queue_with_sums(std::size_t i, const BatchLoader& loader, std::int64_t step,
                              double lr, const std::stop_token& stop) {
  if (!takes_part_[i]) return;
  Local& local = *locals_[i];
  local.countdown.reset();
  replicas_[i]->queue(loader, step, slice_of(i), static_cast<double>(loader.batch_size(step)),
                      options_for(i));
  if (images_[i] == 0) local.countdown.all_ready();
  gpu_reducer_->update_ahead(
      local.member, [&] { replicas_[i]->sgd().step(lr); }, stop);
}

bool Trainer::step_done() {
  return alone() ? network().step_done() : gpu_reducer_->ahead_done();
}

const StepResult& Trainer::finish_step() {
  const Queued step = std::move(queued_.front());
  queued_.pop_front();
  if (!alone()) {
    finish_with_sums(step);
    return result_;
  }
  const nn::BatchResult result = network().finish_step({});
  result_ = {.loss = result.loss_sum / static_cast<double>(step.images),
             .images = step.images,
             .correct = result.correct,
             .gpu_s = result.gpu_s};
  return result_;
}

void Trainer::finish_with_sums(const Queued& step) {
  const std::span<const GpuReducer::AheadTimes> times = gpu_reducer_->finish_ahead();
  steps_.clear();
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    ReplicaStep& report = steps_.emplace_back();
    if (!takes_part_[i]) continue;
    const GpuReducer::AheadTimes& own = times[locals_[i]->member];
    report = {.images = step.by_device[i],
              .backward_end_s = own.backward_end_s,
              .finish_s = own.finish_s,
              .sums = own.sums,
              .update_s = own.update_s};
    locals_[i]->report.update_s = own.update_s;
    if (report.images == 0) continue;
    const nn::BatchResult result = replicas_[i]->network().finish_step({});
    report.loss_sum = result.loss_sum;
    report.correct = result.correct;
  }
  gpu_clocks_ = true;
  summarise();
  result_.gpu_s = times.front().step_s;
  result_.stop_after_epoch = false;
}

}  // namespace lab
