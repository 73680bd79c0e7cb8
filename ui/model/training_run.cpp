#include "ui/model/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lab::ui {
namespace {

// `devices` of all `ranks`.
std::string default_name(const StartTraining& request, std::optional<double> lr,
                         std::size_t devices, int ranks = 1) {
  std::string name = fmt::format("{}, batch {}", request.model, request.batch);
  if (lr) name += fmt::format(", lr {:g}", *lr);
  if (request.dtype != Precision::F32) name += fmt::format(", {}", to_string(request.dtype));
  if (request.kernels == Kernels::Library) name += ", library";
  if (request.momentum != 0) name += fmt::format(", momentum {:g}", request.momentum);
  if (request.seed != 0) name += fmt::format(", seed {}", request.seed);
  if (request.lr_scale == LrScale::Linear) name += ", lr scaled";
  if (devices > 1) {
    name += fmt::format(", {} devices", devices);
    if (ranks > 1) name += fmt::format(" of {} ranks", ranks);
    if (request.share_policy == SharePolicy::Auto) name += ", auto shares";
  }
  return name;
}

}  // namespace

TrainingRun::TrainingRun(JobId id, StartTraining request)
    : id_(id),
      request_(std::move(request)),
      name_(default_name(request_, request_.lr, request_.devices.size())),
      synthetic_(request_.data == DataSource::Synthetic) {}

const std::vector<std::string>& TrainingRun::class_names() const {
  static const std::vector<std::string> kNone;
  return started_ ? started_->class_names : kNone;
}

double TrainingRun::hidden_share() const {
  return done_ && !devices_.empty() ? done_->hidden_share : devices_.hidden_share();
}

void TrainingRun::add(const TrainingStarted& started) {
  started_ = started;
  synthetic_ = started.synthetic;
  name_ = default_name(started.request, started.lr, started.request.devices.size());
  const auto expected = static_cast<std::size_t>(
      std::clamp<std::int64_t>(started.total_steps, 0, std::int64_t{1} << 20));
  for (Column64* column : {&steps_.step, &steps_.epoch, &steps_.t_s, &steps_.loss,
                           &steps_.loss_smooth, &steps_.accuracy, &steps_.accuracy_smooth,
                           &steps_.images_per_s, &steps_.images_per_s_smooth, &steps_.lr}) {
    column->reserve(expected);
  }
}

void TrainingRun::add(const StepDone& step) {
  const auto number = static_cast<double>(step.step);
  const double per_epoch =
      started_ ? static_cast<double>(std::max<std::int64_t>(started_->steps_per_epoch, 1)) : 1;
  steps_.step.push_back(number);
  steps_.epoch.push_back(number / per_epoch);
  steps_.t_s.push_back(step.t_s);
  steps_.loss.push_back(step.loss);
  steps_.loss_smooth.push_back(loss_ema_.add(step.loss));
  steps_.accuracy.push_back(step.accuracy);
  steps_.accuracy_smooth.push_back(accuracy_ema_.add(step.accuracy));
  steps_.images_per_s.push_back(step.images_per_s);
  steps_.images_per_s_smooth.push_back(speed_ema_.add(step.images_per_s));
  steps_.lr.push_back(step.lr);
  devices_.add(step, steps_.epoch.back());
  if (devices_.ranks() > 1 && devices_.step().size() == 1 && started_) {
    name_ = default_name(started_->request, started_->lr, devices_.all().size(), devices_.ranks());
  }
}

void TrainingRun::add(const EpochDone& epoch) {
  epochs_.step.push_back(steps_.step.empty() ? 0 : steps_.step.back());
  epochs_.epoch.push_back(static_cast<double>(epoch.epoch));
  epochs_.t_s.push_back(steps_.t_s.empty() ? 0 : steps_.t_s.back());
  epochs_.train_loss.push_back(epoch.train_loss);
  epochs_.train_acc.push_back(epoch.train_acc);
  epochs_.test_acc.push_back(epoch.test_acc.value_or(kNoValue));
  epochs_.seconds.push_back(epoch.seconds);
  epochs_.images_per_s.push_back(epoch.images_per_s);
}

}  // namespace lab::ui
