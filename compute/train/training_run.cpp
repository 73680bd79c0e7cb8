#include "compute/train/training_run.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "compute/core/fields/request_fields.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"
#include "compute/kernels/gemm/peak.h"
#include "compute/measure/gpu_peak.h"
#include "compute/nn/models.h"
#include "compute/nn/state_dict.h"
#include "compute/train/training_request.h"

namespace lab {

LearningRate::LearningRate(const StartTraining& request, std::int64_t steps_per_epoch) {
  const double rate = *request.lr;
  peak_ = rate;
  if (request.lr_scale == LrScale::Linear) {
    constexpr double kReferenceBatch = 256;  // batch of the book's learning rates
    peak_ = rate * static_cast<double>(request.batch) / kReferenceBatch;
  }
  start_ = peak_ > rate ? rate : 0;
  warmup_steps_ = request.warmup_epochs * static_cast<double>(steps_per_epoch);
  if (request.schedule == LrSchedule::Linear) {
    end_ = static_cast<double>(request.epochs * steps_per_epoch);
  }
}

// The first step already moves towards the peak: a step at rate 0 would have no effect.
double LearningRate::at(std::int64_t step) const {
  const double done = static_cast<double>(step) + 1;
  if (done < warmup_steps_) return start_ + (peak_ - start_) * (done / warmup_steps_);
  if (!end_) return peak_;
  const double left = *end_ - static_cast<double>(step);
  return peak_ * std::clamp(left / (*end_ - warmup_steps_), 0.0, 1.0);
}

namespace {

// A test image takes a forward pass, a training image about three times as long.
constexpr double kTestImageWork = 1.0 / 3;
constexpr double kNearlyDone = 0.999;   // 1 is reported once, by finish()
constexpr std::size_t kSplits = 65536;  // enough for any median
constexpr double kPeakBudget_s = 0.5;
constexpr double kMostQueued_s = 0.2;
constexpr double kProfileInterval_s = 1;
constexpr double kTimelineInterval_s = 1;
constexpr double kInsightInterval_s = 1;

}  // namespace

TrainingRun::TrainingRun(const StartTraining& request, Trainer& trainer, const Dataset& data,
                         RunContext& ctx, const TrainingSink& sink, ResumedTraining resumed,
                         std::int64_t timeline_warmup)
    : request_(request),
      trainer_(trainer),
      data_(data),
      ctx_(ctx),
      sink_(sink),
      loader_(data.train, request.batch, request.order, request.seed, request.augment),
      learning_rate_(request, loader_.steps_per_epoch()),
      timeline_warmup_(timeline_warmup),
      at_(resumed.position),
      changes_(std::move(resumed.changes)),
      first_step_(at_.steps),
      total_steps_(length()) {
  pass_.kernels = request.kernels;
  // With several devices, the run pauses between steps: no device may wait while others depend on
  // it.
  if (trainer.devices().size() == 1) {
    pass_.between_ops = [this] { clock_.leave_out(ctx_.checkpoint()); };
  }
}

void TrainingRun::run() {
  try {
    train();
  } catch (const Error& e) {
    if (e.code() == Errc::Cancelled) save_last_checkpoint();
    write_trace();
    throw;
  }
}

std::int64_t TrainingRun::length() const {
  return request_.steps.value_or(request_.epochs * loader_.steps_per_epoch());
}

void TrainingRun::check_length(const StartTraining& request) const {
  const std::int64_t epochs_end = request.epochs * loader_.steps_per_epoch();
  const std::int64_t steps = request.steps.value_or(epochs_end);
  if (request.schedule == LrSchedule::Linear && steps > epochs_end) {
    throw Error(
        Errc::InvalidArgument,
        trf("training: {} steps are more than the {} of {} epochs, after which the learning "
            "rate is 0; raise --epochs",
            steps, epochs_end, request.epochs));
  }
}

void TrainingRun::train() {
  check_length(request_);
  start_profile();
  if (!request_.trace_file.empty() && reports()) trace_.emplace();
  announce();
  // The checkpoint was saved after the epoch's last step, before the evaluation.
  if (at_.steps >= total_steps_ && at_.step_in_epoch > 0) end_epoch();
  while (at_.steps < total_steps_) {
    if (!train_epoch()) break;
  }
  finish();
}

// Measures the peak first, while nothing else runs on the device.
void TrainingRun::start_profile() {
  if (!request_.profile || !reports() || at_.steps >= total_steps_) return;
  DeviceContext& device = trainer_.network().device();
  ctx_.progress(0, tr("measuring peak performance"));
  const double begin_s = monotonic_s();
  const MeasureOptions options{.budget_s = kPeakBudget_s,
                               .cancelled = [this] { return ctx_.stop_token().stop_requested(); }};
  const PeakSample peak =
      device.gpu() == nullptr
          ? measure_peak(device.device(), &device.threads(), options, request_.dtype)
          : measure_gpu_peak(device, request_.dtype, options).value_or(PeakSample{});
  clock_.leave_out(monotonic_s() - begin_s);  // no part of the training
  ProfileSetup setup{.device = device.device(),
                     .devices = static_cast<int>(trainer_.devices().size()),
                     .kernels = {request_.kernels},
                     .peak_gflops = peak.gflops,
                     .dtype = request_.dtype,
                     .momentum = request_.momentum != 0};
  if (request_.compare_kernels) setup.kernels = {Kernels::Lab, Kernels::Library};
  pass_.observer = &profile_.emplace(trainer_.network(), std::move(setup));
}

void TrainingRun::report_profile() {
  profile_sent_s_ = clock_.seconds();
  sink_(profile_->result());
}

void TrainingRun::announce() {
  sink_(TrainingStarted{.request = request_,
                        .lr = learning_rate_.peak(),
                        .parameters = trainer_.network().parameter_count(),
                        .train_images = data_.train.count,
                        .test_images = data_.test.count,
                        .steps_per_epoch = loader_.steps_per_epoch(),
                        .total_steps = total_steps_,
                        .synthetic = data_.synthetic,
                        .libraries = gpu_libraries(request_, ctx_.machine()),
                        .class_names = data_.class_names});
}

bool TrainingRun::train_epoch() {
  loader_.start_epoch(at_.epoch);
  begun_epoch_ = at_.epoch;
  while (at_.step_in_epoch + queued() < loader_.steps_per_epoch() && next_step() < total_steps_) {
    wait_while_paused();
    // Several processes end together, at the end of a step.
    if (ctx_.ranks().single()) ctx_.throw_if_cancelled();
    take_changes();
    if (runs_ahead() && !record_due()) {
      step_ahead();
    } else {
      finish_queued();
      timed_step();
    }
    save_if_due();
  }
  finish_queued();
  end_epoch();
  take_changes();  // more epochs may have been asked for during the last evaluation
  if (reached_accuracy()) return false;
  // Several processes agree on the end of training in each step.
  return !stop_after_epoch_ && !(ctx_.ranks().single() && ctx_.stop_after_epoch());
}

// Every process has the same accuracy.
bool TrainingRun::reached_accuracy() const {
  return request_.stop_at && test_acc_ && *test_acc_ >= *request_.stop_at;
}

void TrainingRun::timed_step() {
  if (request_.compare_kernels) {
    pass_.kernels = at_.steps % 2 == 0 ? Kernels::Lab : Kernels::Library;
  }
  if (profile_) profile_->begin_step(pass_.kernels);
  const bool recorded = record_due();
  if (recorded) trainer_.record(true);
  const double begin = clock_.seconds(), waited = clock_.waited_s();
  const StepResult result = train_step();
  const double seconds = clock_.seconds() - begin;
  if (recorded) trainer_.record(false);
  // The times of a step that was paused contain the pause.
  if (recorded && clock_.waited_s() == waited) take_timeline(result, begin, seconds);
  if (profile_) {
    const bool whole = result.images == loader_.batch_size(0);
    profile_->end_step(
        seconds, result.devices.empty() ? result.images : result.devices.front().images, whole);
  }
  report_step(result, seconds);
  const bool due = clock_.seconds() - profile_sent_s_ >= kProfileInterval_s;
  if (profile_ && due && profile_->counted() > 0) report_profile();
}

// The steps that are queued are complete before the pause begins.
void TrainingRun::wait_while_paused() {
  if (ctx_.paused()) finish_queued();
  clock_.leave_out(ctx_.wait_while_paused());
}

// A trace takes steps at a stride, the window one per second. Warm-up steps are not shown there,
// unless there are no others.
bool TrainingRun::record_due() const {
  const std::int64_t step = next_step() - first_step_;
  if (trace_ && trace_->wants(step)) return true;
  if (!request_.timeline || !reports()) return false;
  if (timeline_sent_s_) return clock_.seconds() - *timeline_sent_s_ >= kTimelineInterval_s;
  return step >= std::min(timeline_warmup_, total_steps_ - first_step_ - 1);
}

void TrainingRun::take_timeline(const StepResult& result, double begin_s, double seconds) {
  StepTimeline timeline = trainer_.timeline();
  timeline.step = at_.steps + 1;
  timeline.start_s = begin_s;
  timeline.seconds = seconds;
  timeline.loss = result.loss;
  if (request_.timeline) {
    sink_(timeline);
    timeline_sent_s_ = clock_.seconds();
  }
  if (trace_ && trace_->wants(at_.steps - first_step_)) trace_->add(std::move(timeline));
}

// A run that was stopped or failed has a trace too. Without one, its other results remain.
void TrainingRun::write_trace() {
  if (!trace_ || trace_->steps().empty()) return;
  try {
    files::write_file(request_.trace_file, trace_->text());
  } catch (const Error& e) {
    ctx_.emit_after_stop(LogLine{Severity::Warning, trf("no trace was written: {}", e.what())});
    return;
  }
  std::string steps;
  for (const StepTimeline& step : trace_->steps()) {
    steps += (steps.empty() ? "" : ", ") + std::to_string(step.step);
  }
  ctx_.emit_after_stop(
      LogLine{Severity::Info, trf("trace of {} of {} steps in {}: {}", trace_->steps().size(),
                                  at_.steps - first_step_, request_.trace_file, steps)});
}

std::string TrainingRun::name_of(const RankDevice& one) const {
  const std::string name = to_string(one.device);
  return ctx_.ranks().single() ? name : trf("rank {} · {}", one.rank, name);
}

void TrainingRun::report_idle_devices() {
  if (!reports()) return;
  std::string idle;
  for (const RankDevice& one : trainer_.idle_devices()) {
    idle += (idle.empty() ? "" : ", ") + name_of(one);
  }
  if (idle == idle_devices_) return;
  idle_devices_ = idle;
  std::string text = tr("every device has images again");
  if (!idle.empty() && ctx_.ranks().single()) {
    text = trf("no images of a batch of {} for {}: left out of the steps", request_.batch, idle);
  } else if (!idle.empty()) {
    text =
        trf("no images of a batch of {} for {}: takes part in the sums only", request_.batch, idle);
  }
  ctx_.emit(LogLine{Severity::Info, text});
  const std::string& remark = trainer_.sum_remark();
  if (remark == sum_remark_) return;
  sum_remark_ = remark;
  if (!remark.empty()) ctx_.emit(LogLine{Severity::Info, remark});
}

void TrainingRun::report_full_devices() {
  if (!reports()) return;
  for (const Trainer::FullDevice& full : trainer_.full_devices()) {
    if (std::ranges::count(full_devices_, full) > 0) continue;
    full_devices_.push_back(full);
    ctx_.emit(LogLine{Severity::Warning, trf("{} takes {} of {} images: it has no room for more",
                                             name_of(full.device), full.images, request_.batch)});
  }
}

void TrainingRun::report_insight(const StepResult& result) {
  if (!request_.insight || !reports()) return;
  if (insight_sent_s_ && clock_.seconds() - *insight_sent_s_ < kInsightInterval_s) return;
  std::vector<std::int64_t> images;
  for (const DeviceStep& device : result.devices) images.push_back(device.images);
  if (images.empty()) images.push_back(result.images);
  insight_.step = at_.steps;
  take_batch(loader_, at_.step_in_epoch - 1, images, insight_);
  // Reading from a GPU would delay its next steps.
  if (trainer_.latest_network().device().gpu() == nullptr) {
    take_first_layer(trainer_.latest_network(), insight_);
    insight_.weights_step = insight_.step;
  }
  sink_(insight_);
  insight_sent_s_ = clock_.seconds();
}

void TrainingRun::report_first_layer() {
  if (!request_.insight || !reports()) return;
  trainer_.latest_network().read_state();
  take_first_layer(trainer_.latest_network(), insight_);
  insight_.weights_step = at_.steps;
  sink_(insight_);
}

// A profile times each step by itself. Queued steps are not cancelled, and those of an emulated GPU
// may take minutes.
bool TrainingRun::runs_ahead() const {
  if (request_.steps_ahead == 0 || profile_ || !trainer_.can_queue()) return false;
  return is_timed(trainer_.devices().front().device) ||
         (last_step_s_ && *last_step_s_ < kMostQueued_s);
}

// Short steps gain from running ahead; the end of long ones would only delay a pause or a stop.
std::int64_t TrainingRun::most_queued() const {
  if (last_gpu_s_ == 0) return 1;
  const double steps = std::min(kMostQueued_s / last_gpu_s_, 1e3);
  return std::clamp<std::int64_t>(std::llround(steps), 1, request_.steps_ahead);
}

// One more step is queued than runs ahead.
static_assert(FieldsOf<StartTraining>::kMaxStepsAhead + 1 == nn::kMaxQueuedSteps);

void TrainingRun::step_ahead() {
  while (queued() > most_queued()) report_queued();
  if (!in_series_) trainer_.begin_steps();
  in_series_ = true;
  trainer_.queue_step(loader_, at_.step_in_epoch + queued(), learning_rate_.at(next_step()),
                      {.kernels = request_.kernels});
  while (queued() > 0 && trainer_.step_done()) report_queued();
}

// What follows is not part of a step's time.
void TrainingRun::finish_queued() {
  while (queued() > 0) report_queued();
  in_series_ = false;
}

void TrainingRun::report_queued() {
  const StepResult result = trainer_.finish_step();
  require_finite(result);
  last_gpu_s_ = result.gpu_s;
  report_step(result, result.gpu_s);
}

StepResult TrainingRun::train_step() {
  StepResult result = trainer_.step(loader_, at_.step_in_epoch, learning_rate_.at(at_.steps), pass_,
                                    ctx_.stop_after_epoch());
  stop_after_epoch_ = result.stop_after_epoch;
  require_finite(result);
  return result;
}

void TrainingRun::require_finite(const StepResult& result) const {
  if (std::isfinite(result.loss)) return;
  throw diverged(
      trf("the loss of step {} (epoch {}) is {}", at_.steps + 1, at_.epoch, printable(result.loss)),
      learning_rate_.at(at_.steps));
}

// A run cannot be resumed at another learning rate, but a new run can start from its weights.
Error TrainingRun::diverged(const std::string& what, double lr) const {
  std::string text =
      trf("training {} diverged: {} at a learning rate of {}; try a smaller one; the default is {}",
          request_.model, what, lr, nn::default_learning_rate(request_.model));
  if (!checkpoint_.empty()) {
    text += "; " +
            trf("the last good checkpoint is {0}: start from it with --init {0}/model.safetensors",
                checkpoint_);
  } else if (!request_.resume_dir.empty()) {
    text += "; " + trf("the last good checkpoint is the one that this run resumed from, in {}",
                       request_.resume_dir);
  }
  return {Errc::InvalidArgument, text};
}

// The effect of an update on the loss is visible only in the next step, so the state is checked.
void TrainingRun::require_finite_state() {
  const std::string fault = nn::find_non_finite_state(trainer_.network(), trainer_.sgd());
  if (fault.empty()) return;
  const std::int64_t last = std::max<std::int64_t>(at_.steps - 1, 0);
  throw diverged(trf("after step {} {}", at_.steps, fault), learning_rate_.at(last));
}

void TrainingRun::report_step(const StepResult& result, double seconds) {
  const double lr = learning_rate_.at(at_.steps);
  ++at_.steps;
  ++at_.step_in_epoch;
  at_.loss_sum += result.loss * static_cast<double>(result.images);
  at_.epoch_seconds += seconds;
  at_.images += result.images;
  at_.correct += result.correct;
  images_ += result.images;
  step_seconds_ += seconds;
  last_step_s_ = seconds;
  if (!result.devices.empty()) {
    if (splits_.size() < kSplits) splits_.emplace_back();
    splits_[static_cast<std::size_t>(at_.steps - first_step_ - 1) % kSplits] =
        split_of(result.devices);
  }
  const double images = static_cast<double>(result.images);
  sink_(StepDone{.step = at_.steps,
                 .epoch = at_.epoch,
                 .loss = result.loss,
                 .accuracy = static_cast<double>(result.correct) / images,
                 .images = result.images,
                 .images_per_s = seconds > 0 ? images / seconds : 0,
                 .t_s = clock_.seconds(),
                 .lr = lr,
                 .devices = result.devices});
  if (trace_) trace_->add({.step = at_.steps, .t_s = clock_.seconds(), .loss = result.loss});
  report_insight(result);
  report_idle_devices();
  report_full_devices();
  // Reports follow one another by 0.1 s at least, and that of the evaluation must not be missed.
  const bool tests_next = request_.evaluate && (at_.steps == total_steps_ ||
                                                at_.step_in_epoch == loader_.steps_per_epoch());
  if (!tests_next) report_progress();
}

// Returns the share of the work of all steps and evaluations that is done.
double TrainingRun::share_done(double steps, double evaluations) const {
  const double step = static_cast<double>(loader_.batch_size(0));
  const double test =
      request_.evaluate ? kTestImageWork * static_cast<double>(data_.test.count) : 0;
  const std::int64_t per_epoch = loader_.steps_per_epoch();
  const std::int64_t epochs = (total_steps_ + per_epoch - 1) / per_epoch;
  const double all = static_cast<double>(total_steps_) * step + static_cast<double>(epochs) * test;
  return std::min((steps * step + evaluations * test) / all, kNearlyDone);
}

void TrainingRun::report_progress() {
  const double evaluations = static_cast<double>(at_.epoch - 1);
  ctx_.progress(share_done(static_cast<double>(at_.steps), evaluations),
                trf("epoch {}, step {} of {}", at_.epoch, at_.steps, total_steps_));
}

void TrainingRun::report_test(double done, std::int64_t epoch) {
  const double images = static_cast<double>(data_.test.count);
  const double evaluations = static_cast<double>(epoch - 1) + done;
  ctx_.progress(
      share_done(static_cast<double>(at_.steps), evaluations),
      trf("epoch {}, {} of {} test images", epoch, std::llround(done * images), data_.test.count));
}

void TrainingRun::end_epoch() {
  const double n = static_cast<double>(std::max<std::int64_t>(at_.images, 1));
  EpochDone done{.epoch = at_.epoch,
                 .train_loss = at_.loss_sum / n,
                 .train_acc = static_cast<double>(at_.correct) / n,
                 .test_acc = {},
                 .seconds = at_.epoch_seconds,
                 .images_per_s = at_.epoch_seconds > 0
                                     ? static_cast<double>(at_.images) / at_.epoch_seconds
                                     : 0};
  if (request_.evaluate) evaluate(at_.epoch);
  done.test_acc = request_.evaluate ? test_acc_ : std::nullopt;
  sink_(done);
  report_first_layer();
  if (at_.step_in_epoch < loader_.steps_per_epoch()) return;  // ended by --steps
  at_ = {.steps = at_.steps, .epoch = at_.epoch + 1};
}

void TrainingRun::evaluate(std::int64_t epoch) {
  pass_.kernels = request_.kernels;
  const Evaluation evaluation =
      trainer_.evaluate(data_.test, pass_, [&](double tested) { report_test(tested, epoch); });
  test_acc_ = evaluation.accuracy;
  if (reached_accuracy()) reached_s_ = clock_.seconds();
  if (!reports()) return;
  sink_(sample_predictions(epoch, data_.test, evaluation));
  sink_(Confusion{.epoch = epoch, .classes = data_.test.classes, .counts = evaluation.confusion});
}

void TrainingRun::save_if_due() {
  if (request_.checkpoint_every <= 0 || next_step() % request_.checkpoint_every != 0) return;
  finish_queued();
  save_checkpoint();
}

void TrainingRun::save_checkpoint() {
  if (saved_at_ == at_.steps) return;
  trainer_.gather_state();  // collective, regardless of the process that writes
  write_gathered();
}

void TrainingRun::write_gathered() {
  saved_at_ = at_.steps;
  if (!reports() || request_.checkpoint_dir.empty()) return;
  write_checkpoint();
}

void TrainingRun::write_checkpoint() {
  require_finite_state();
  checkpoint_ = lab::save_checkpoint(request_.checkpoint_dir, request_, at_, trainer_.network(),
                                     trainer_.sgd(), changes_)
                    .string();
}

// Saves the state of a cancelled run between two steps. The caller must receive the cancellation,
// so errors are only logged.
void TrainingRun::save_last_checkpoint() {
  if (!reports() || request_.checkpoint_dir.empty()) return;
  try {
    finish_queued();
    if (at_.steps == first_step_) return;
    if (saved_at_ != at_.steps) {
      if (!trainer_.take_own_state()) {
        throw Error(Errc::Unsupported, tr("its running statistics are on another process"));
      }
      write_checkpoint();
      saved_at_ = at_.steps;
    }
    ctx_.emit_after_stop(
        LogLine{Severity::Info,
                trf("training stopped after step {}; continue from its checkpoint with --resume {}",
                    at_.steps, checkpoint_)});
  } catch (const std::exception& e) {
    ctx_.emit_after_stop(LogLine{
        Severity::Warning,
        trf("training stopped after step {}, which has no checkpoint: {}", at_.steps, e.what())});
  }
}

// Writes the weights and the last checkpoint, each even if the other cannot be written.
void TrainingRun::save_result() {
  const bool saved = saved_at_ == at_.steps;
  if (!saved) trainer_.gather_state();
  std::exception_ptr failed;
  try {
    if (reports() && !request_.save_file.empty()) {
      require_finite_state();
      nn::save_network(trainer_.network(), request_.save_file);
    }
  } catch (const Error&) {
    failed = std::current_exception();
  }
  if (!saved) write_gathered();
  if (failed) std::rethrow_exception(failed);
}

void TrainingRun::finish() {
  save_result();
  write_trace();
  if (profile_) report_profile();
  ctx_.progress(1, trf("{} steps", at_.steps));
  TrainingDone done{
      .test_acc = test_acc_,
      .reached_s = reached_s_,
      .images_per_s = step_seconds_ > 0 ? static_cast<double>(images_) / step_seconds_ : 0,
      .seconds = clock_.seconds(),
      .steps = at_.steps,
      .devices = {},
      .ranks = ctx_.ranks().size(),
      .saved_file = request_.save_file,
      .checkpoint = checkpoint_,
      .split = median_split(splits_)};
  done.changes = changes_;
  done.hidden_share = hidden_share(done.split);
  for (const RankDevice& device : trainer_.devices()) done.devices.push_back(device.device);
  for (const RankDevice& device : trainer_.idle_devices())
    done.idle_devices.push_back(device.device);
  sink_(done);
}

}  // namespace lab
