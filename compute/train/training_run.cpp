#include "compute/train/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/nn/models.h"
#include "compute/nn/state_dict.h"
#include "compute/train/prediction_samples.h"
#include "compute/types/error.h"

namespace lab {

TrainingRun::TrainingRun(const StartTraining& request, Trainer& trainer, const Dataset& data,
                         RunContext& ctx)
    : request_(request),
      trainer_(trainer),
      data_(data),
      ctx_(ctx),
      loader_(data.train, request.batch, request.order, request.seed),
      total_steps_(request.steps.value_or(request.epochs * loader_.steps_per_epoch())) {
  pass_.library = request.kernels == Kernels::Library ? GemmLibrary::OneDnn : GemmLibrary::Lab;
  pass_.stop = ctx.stop_token();
  pass_.between_ops = [this] { clock_.leave_out(ctx_.checkpoint()); };
}

void TrainingRun::run() {
  announce();
  for (std::int64_t epoch = 1; steps_ < total_steps_; ++epoch) {
    if (!train_epoch(epoch)) break;
  }
  finish();
}

void TrainingRun::announce() {
  ctx_.emit(TrainingStarted{.request = request_,
                            .lr = *request_.lr,
                            .parameters = trainer_.network().parameter_count(),
                            .train_images = data_.train.count,
                            .test_images = data_.test.count,
                            .steps_per_epoch = loader_.steps_per_epoch(),
                            .total_steps = total_steps_,
                            .synthetic = data_.synthetic,
                            .class_names = data_.class_names});
}

bool TrainingRun::train_epoch(std::int64_t epoch) {
  loader_.start_epoch(epoch);
  const std::int64_t last = std::min(loader_.steps_per_epoch(), total_steps_ - steps_);
  double loss_sum = 0, seconds = 0;
  std::int64_t images = 0, correct = 0;
  for (std::int64_t step = 0; step < last; ++step) {
    clock_.leave_out(ctx_.checkpoint());
    const double begin = clock_.seconds();
    const StepResult result = trainer_.step(loader_, step, pass_);
    const double spent = clock_.seconds() - begin;
    report_step(result, epoch, spent);
    loss_sum += result.loss * static_cast<double>(result.images);
    seconds += spent;
    images += result.images;
    correct += result.correct;
  }
  const double n = static_cast<double>(std::max<std::int64_t>(images, 1));
  EpochDone done{.epoch = epoch,
                 .train_loss = loss_sum / n,
                 .train_acc = static_cast<double>(correct) / n,
                 .test_acc = {},
                 .seconds = seconds,
                 .images_per_s = seconds > 0 ? static_cast<double>(images) / seconds : 0};
  if (request_.evaluate) evaluate(epoch);
  done.test_acc = request_.evaluate ? test_acc_ : std::nullopt;
  ctx_.emit(done);
  return !ctx_.stop_after_epoch();
}

void TrainingRun::report_step(const StepResult& result, std::int64_t epoch, double seconds) {
  ++steps_;
  images_ += result.images;
  step_seconds_ += seconds;
  if (!std::isfinite(result.loss)) {
    throw Error(Errc::InvalidArgument,
                fmt::format("training {} diverged: the loss of step {} (epoch {}) is {} at a "
                            "learning rate of {}; try a smaller one, the usual one is {}",
                            request_.model, steps_, epoch, result.loss, *request_.lr,
                            nn::default_learning_rate(request_.model)));
  }
  const double images = static_cast<double>(result.images);
  ctx_.emit(StepDone{.step = steps_,
                     .epoch = epoch,
                     .loss = result.loss,
                     .accuracy = static_cast<double>(result.correct) / images,
                     .images = result.images,
                     .images_per_s = seconds > 0 ? images / seconds : 0,
                     .t_s = clock_.seconds()});
  report_progress(epoch);
}

void TrainingRun::report_progress(std::int64_t epoch) {
  const double done = static_cast<double>(steps_) / static_cast<double>(total_steps_);
  // 1 is said once, at the end: the last epoch's evaluation and the file are still to come.
  ctx_.progress(std::min(done, 0.999),
                fmt::format("epoch {}, step {} of {}", epoch, steps_, total_steps_));
}

void TrainingRun::evaluate(std::int64_t epoch) {
  const Evaluation evaluation = trainer_.evaluate(data_.test, pass_);
  test_acc_ = evaluation.accuracy;
  ctx_.emit(sample_predictions(epoch, data_.test, evaluation));
  ctx_.emit(
      Confusion{.epoch = epoch, .classes = data_.test.classes, .counts = evaluation.confusion});
}

void TrainingRun::finish() {
  if (!request_.save_file.empty()) nn::save_network(trainer_.network(), request_.save_file);
  ctx_.progress(1, fmt::format("{} steps", steps_));
  ctx_.emit(TrainingDone{
      .test_acc = test_acc_,
      .images_per_s = step_seconds_ > 0 ? static_cast<double>(images_) / step_seconds_ : 0,
      .seconds = clock_.seconds(),
      .steps = steps_,
      .devices = request_.devices,
      .saved_file = request_.save_file});
}

}  // namespace lab
