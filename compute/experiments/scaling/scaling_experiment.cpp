#include "compute/experiments/scaling/scaling_experiment.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/events/measured_cases.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/scaling/process_cost.h"
#include "compute/experiments/scaling/published_scaling.h"
#include "compute/experiments/scaling/reference_file.h"
#include "compute/experiments/scaling/scaling_model.h"
#include "compute/experiments/scaling/scaling_runs.h"
#include "compute/machine/machine.h"
#include "compute/nn/models.h"
#include "compute/run/run_context.h"
#include "compute/train/training_job.h"
#include "compute/train/training_request.h"

namespace lab {
namespace {

constexpr int kMaxPredicted = 65536;
constexpr std::int64_t kMaxSteps = 1'000'000;
constexpr double kDataShare = 0.05;  // of the progress bar, for loading the data
// Batch sizes at which one device is timed: enough to separate the fixed cost per step from the
// cost per image and to see whether a line describes them.
constexpr int kBatchSizes = 4;

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw Error(Errc::InvalidArgument, otherwise);
}

bool within(std::int64_t value, std::int64_t least, std::int64_t most) {
  return value >= least && value <= most;
}

bool is_duration(double seconds) {
  return seconds >= 0 && std::isfinite(seconds);
}

void check_process_numbers(const StartScaling& r) {
  require(is_duration(r.fixed_s),
          trf("scaling: the fixed time per step is {} s; it must be 0 or more", r.fixed_s));
  const double repeated_s = r.repeated_s.value_or(0);
  require(is_duration(repeated_s),
          trf("scaling: the repeated time per device is {} s; it must be 0 or more", repeated_s));
  require(is_duration(r.reading_s),
          trf("scaling: the time to read a batch is {} s; it must be 0 or more", r.reading_s));
  require(!(r.fixed_s > 0) || r.compute_s || !r.reference_file.empty(),
          tr("scaling: the fixed time per step is part of a step time that was not given; enter "
             "that as well, or measure, which fits both"));
  if (!r.compute_s) return;
  require(
      r.fixed_s < *r.compute_s,
      trf("scaling: the fixed time per step is {}, but the whole step takes {}; it must be shorter",
          format_seconds(r.fixed_s), format_seconds(*r.compute_s)));
}

void check_predicted(int devices, int least) {
  require(within(devices, least, kMaxPredicted),
          trf("scaling: the number of devices to predict is {}; it must be {} to {}", devices,
              least, kMaxPredicted));
}

// Batches from `least` to below `most` in equal ratios.
std::vector<std::int64_t> smaller_batches(std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> batches;
  const double ratio = static_cast<double>(most) / static_cast<double>(least);
  for (int i = 0; i < kBatchSizes - 1; ++i) {
    const double batch = static_cast<double>(least) * std::pow(ratio, i / (kBatchSizes - 1.0));
    const std::int64_t images = std::llround(batch);
    if (images < most && (batches.empty() || images > batches.back())) batches.push_back(images);
  }
  return batches;
}

// The fitted line, scaled to pass through the last point, to which speed-ups refer.
ComputeTime fit_through_last(std::span<const ComputePoint> points) {
  ComputeTime time = fit_compute(points);
  const double scale = points.back().seconds / time.at(points.back().images);
  time.fixed_s *= scale;
  time.per_image_s *= scale;
  return time;
}

void check_counts(const StartScaling& r) {
  require(
      within(r.steps, 1, kMaxSteps),
      trf("scaling: the number of timed steps is {}; it must be {} to {}", r.steps, 1, kMaxSteps));
  require(within(r.warmup, 0, kMaxSteps),
          trf("scaling: the number of untimed steps is {}; it must be {} to {}", r.warmup, 0,
              kMaxSteps));
  require(within(r.rounds, 1, kMaxSteps),
          trf("scaling: the number of rounds is {}; it must be {} to {}", r.rounds, 1, kMaxSteps));
  require(within(r.accuracy_steps, 1, kMaxSteps),
          trf("scaling: the number of steps before evaluation is {}; it must be {} to {}",
              r.accuracy_steps, 1, kMaxSteps));
  check_predicted(r.predict_devices, 0);
}

void check_numbers(const StartScaling& r) {
  require(!r.modes.empty(), tr("scaling: no mode is chosen; choose strong, weak or both"));
  check_counts(r);
  const double compute_s = r.compute_s.value_or(1);
  require(compute_s > 0 && std::isfinite(compute_s),
          trf("scaling: one device's step takes {} s; it must be above 0", compute_s));
  require(!r.compute_s || r.reference_file.empty(),
          tr("scaling: a typed-in compute time and a reference file contradict each other; give "
             "only one of them"));
  require(r.measure || r.compute_s || !r.reference_file.empty(),
          tr("scaling: a prediction without measurement needs one device's compute time; enter it "
             "in or give a reference file"));
  check_process_numbers(r);
  if (!r.measure) check_predicted(r.predict_devices, 1);
}

class ScalingExperiment final : public Experiment {
 public:
  explicit ScalingExperiment(const StartScaling& request) : request_(request) {}

  void run(RunContext& ctx) override {
    if (!ctx.ranks().single()) {
      throw Error(Errc::Unsupported, trf("scaling compares device counts within one process, but "
                                         "{} processes were started; run it without mpirun",
                                         ctx.ranks().size()));
    }
    if (request_.check) {
      ctx.emit(compare_with_published());
      ctx.progress(1, tr("done"));
      return;
    }
    check_numbers(request_);
    find_link(request_.link);
    if (!request_.reference_file.empty()) reference_ = read_reference(request_.reference_file);
    check_model();
    if (request_.measure) {
      complete(ctx.machine());
      measure(ctx);
    } else {
      const std::int64_t batch = request_.training.batch;
      require(within(batch, 1, kMaxSteps),
              trf("scaling: the batch is {}; it must be {} to {}", batch, 1, kMaxSteps));
    }
    emit_predictions(ctx);
    ctx.progress(1, tr("done"));
  }

 private:
  // The reference time is specific to its model, whose gradients are all-reduced.
  void check_model() {
    std::string& model = request_.training.model;
    if (model.empty() && reference_) model = reference_->model;
    if (reference_ && reference_->model != model) {
      throw Error(Errc::InvalidArgument,
                  trf("scaling: {} describes {}, not {}; choose {} as the model",
                      request_.reference_file, reference_->model, model, reference_->model));
    }
    work_.buckets = bucket_loads(model, request_.training.bucket_bytes);
    if (reference_ && request_.fixed_s >= reference_->step_s) {
      throw Error(Errc::InvalidArgument,
                  trf("scaling: the fixed time per step is {}, but a step of {} takes {}; it must "
                      "be shorter",
                      format_seconds(request_.fixed_s), request_.reference_file,
                      format_seconds(reference_->step_s)));
    }
  }

  void complete(Machine& machine) {
    StartTraining& training = request_.training;
    if (!std::all_of(training.devices.begin(), training.devices.end(), is_timed)) {
      throw Error(Errc::Usage, tr("scaling: an emulated GPU is never timed; name CPUs or NVIDIA "
                                  "GPUs"));
    }
    if (training.devices.empty()) {
      training.devices = alike_devices(machine.info().devices);
    }
    training.steps.reset();
    training.save_file.clear();
    training.checkpoint_dir.clear();
    training.resume_dir.clear();
    training = complete_request(training, machine);
    complete_counts();
    const auto& modes = request_.modes;
    const bool strong = std::find(modes.begin(), modes.end(), ScalingMode::Strong) != modes.end();
    request_.accuracy = request_.accuracy && strong;
    // The line through these batches and the full one reaches down to the smallest predicted share.
    const std::int64_t share = training.batch / std::max(request_.predict_devices, 1);
    if (strong && needs_measured_compute() && share < training.batch) {
      small_batches_ = smaller_batches(std::max<std::int64_t>(share, 1), training.batch);
    }
  }

  // The first n devices train without the others: at least one of them must have a share.
  void check_shares() const {
    const std::vector<double>& shares = request_.training.shares;
    for (const int n : request_.counts) {
      if (n == 1 ||
          std::any_of(shares.begin(), shares.begin() + n, [](double s) { return s > 0; })) {
        continue;
      }
      throw Error(Errc::InvalidArgument,
                  trf("scaling: the first {} devices have no share; list devices with a share "
                      "first, or choose other device counts with --counts",
                      n));
    }
  }

  // Ascending, unique, and including one device, the baseline of the others.
  void complete_counts() {
    std::vector<int>& counts = request_.counts;
    const int most = static_cast<int>(request_.training.devices.size());
    for (const int n : counts) {
      require(
          within(n, 1, most),
          trf("scaling: a number of devices to measure is {}; it must be {} to {}", n, 1, most));
    }
    if (counts.empty()) counts = doubling_counts(most);
    counts.push_back(1);
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    if (request_.training.share_policy == SharePolicy::Listed) check_shares();
  }

  bool needs_measured_compute() const { return !request_.compute_s && !reference_; }

  void check_batches(std::int64_t images) const {
    for (const ScalingMode mode : request_.modes) {
      const int most = request_.counts.back();
      const std::int64_t batch = request_.training.batch * (mode == ScalingMode::Weak ? most : 1);
      if (batch <= images) continue;
      throw Error(Errc::InvalidArgument,
                  mode == ScalingMode::Strong
                      ? trf("scaling: strong scaling up to {} devices has steps of {} images, but "
                            "there are {} to train on; choose a smaller batch",
                            most, batch, images)
                      : trf("scaling: weak scaling up to {} devices has steps of {} images, but "
                            "there are {} to train on; choose a smaller batch",
                            most, batch, images));
    }
  }

  void measure(RunContext& ctx) {
    const StartTraining& training = request_.training;
    if (training.data == DataSource::Synthetic) check_batches(training.synthetic_train);
    const Dataset data = load(ctx);
    check_batches(data.train.count);
    const RunContext::Part part(ctx, kDataShare, 1, "");
    warn_of_unequal(ctx);
    ScalingRuns runs(request_, data, small_batches_, ctx);
    runs.run();
    points_ = runs.points();
    measured_ = runs.one_device();
    for (const ScalingPoint& p : points_) {
      core_loads_.push_back(core_load(
          ctx.machine(), std::span(training.devices).first(static_cast<std::size_t>(p.devices))));
    }
    warn_of_unsteady(ctx);
  }

  void warn_of_unequal(RunContext& ctx) const {
    const StartTraining& training = request_.training;
    const auto measured = static_cast<std::size_t>(request_.counts.back());
    const std::string unequal =
        unequal_cores(ctx.machine(), std::span(training.devices).first(measured));
    if (unequal.empty()) return;
    const std::string text =
        trf("the devices are not equally fast ({}), but speed-ups, efficiency and predictions "
            "compare with {}",
            unequal, to_string(training.devices.front()));
    ctx.emit(LogLine{Severity::Warning,
                     training.share_policy == SharePolicy::Equal
                         ? trf("{}; give each device its part of the batch with --shares", text)
                         : text});
  }

  void warn_of_unsteady(RunContext& ctx) const {
    const Timing& one = points_.front().step;
    if (!one.unstable) return;
    ctx.emit(LogLine{Severity::Warning,
                     trf("One device's steps took {} to {}, so speed-ups and predictions are "
                         "rough; stop other programs, or measure more steps",
                         format_seconds(one.p10_s), format_seconds(one.p90_s))});
  }

  Dataset load(RunContext& ctx) const {
    const RunContext::Part part(ctx, 0, kDataShare, "");
    return load_training_data(request_.training, ctx);
  }

  std::string own_basis(const ComputeTime& time) const {
    const Device device = request_.training.devices.front();
    const ComputePoint& full = measured_.back();
    if (measured_.size() < 2) {
      return trf("measured on {}: {} for {} images", to_string(device),
                 format_seconds(full.seconds), full.images);
    }
    const std::string step = format_seconds(full.seconds);
    return time.fixed_s > 0
               ? trf("measured on {}: {} for {} images, {} of it fixed, from {} batch sizes",
                     to_string(device), step, full.images, format_seconds(time.fixed_s),
                     measured_.size())
               : trf("measured on {}: {} for {} images; at {} batch sizes the time grew in "
                     "proportion to the images",
                     to_string(device), step, full.images, measured_.size());
  }

  // The part of a given step time that grows with the batch.
  ComputeTime given(double images, double seconds) const {
    const ComputePoint point{images, seconds - request_.fixed_s};
    ComputeTime time = fit_compute({&point, 1});
    time.fixed_s = request_.fixed_s;
    return time;
  }

  // The requested compute time and its origin.
  std::pair<ComputeTime, std::string> basis() const {
    if (request_.compute_s) {
      const std::int64_t batch = request_.training.batch;
      const std::string step = format_seconds(*request_.compute_s);
      return {given(static_cast<double>(batch), *request_.compute_s),
              request_.fixed_s > 0 ? trf("typed in: {} for {} images, {} of it fixed", step, batch,
                                         format_seconds(request_.fixed_s))
                                   : trf("typed in: {} for {} images", step, batch)};
    }
    if (reference_) {
      const std::string step = format_seconds(reference_->step_s);
      return {given(static_cast<double>(reference_->batch), reference_->step_s),
              request_.fixed_s > 0
                  ? trf("{}: {} for {} images on {}, {} of it fixed", request_.reference_file, step,
                        reference_->batch, reference_->device, format_seconds(request_.fixed_s))
                  : trf("{}: {} for {} images on {}", request_.reference_file, step,
                        reference_->batch, reference_->device)};
    }
    const ComputeTime fitted = fit_through_last(measured_);
    return {fitted, own_basis(fitted)};
  }

  // The work of the predicted devices, without the compute time.
  Workload predicted_work() const {
    Workload work = work_;
    const StartTraining& training = request_.training;
    work.reading_s_per_image = request_.reading_s / static_cast<double>(training.batch);
    if (request_.style != ParallelStyle::DataParallel) return work;
    const nn::NetworkPlan plan = nn::plan_model(training.model);
    constexpr double kFloat = sizeof(float);
    work.input_bytes = kFloat * static_cast<double>(plan.values.front().shape.size());
    work.output_bytes = kFloat * static_cast<double>(plan.ops.back()->output->shape.size());
    work.repeated_s = request_.repeated_s ? *request_.repeated_s : repeated_s(training.model);
    return work;
  }

  void emit_predictions(RunContext& ctx) const {
    if (request_.predict_devices == 0) return;
    const Link& link = find_link(request_.link);
    for (const ScalingMode mode : request_.modes) {
      const std::vector<ScalingPrediction> checked = check_mode(mode);
      const std::string withheld = needs_measured_compute() ? why_withheld(checked) : "";
      PredictionCase scenario{mode, request_.training.batch, {}};
      Workload work = predicted_work();
      std::tie(work.compute, scenario.basis) = basis();
      for (const int n : doubling_counts(request_.predict_devices)) {
        ScalingPrediction p = predict(work, link, all_reduce_style(request_.style), scenario, n);
        p.withheld = withheld;
        ctx.emit(std::move(p));
      }
      for (const ScalingPrediction& p : checked) ctx.emit(p);
    }
  }

  // The model for the measured device counts. It divides batches equally, so it cannot explain
  // listed shares.
  std::vector<ScalingPrediction> check_mode(ScalingMode mode) const {
    if (measured_.empty() || request_.training.share_policy == SharePolicy::Listed) return {};
    Workload work = work_;
    work.compute = fit_through_last(measured_);
    return explain_mode(work, {mode, request_.training.batch, own_basis(work.compute)});
  }

  std::vector<ScalingPrediction> explain_mode(const Workload& work,
                                              const PredictionCase& scenario) const {
    std::vector<ScalingPoint> points;
    std::vector<double> loads;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (points_[i].mode != scenario.mode) continue;
      points.push_back(points_[i]);
      loads.push_back(core_loads_[i]);
    }
    return model_measurements(work, scenario, points, loads);
  }

  StartScaling request_;
  std::optional<ReferenceTime> reference_;
  std::vector<std::int64_t> small_batches_;
  Workload work_;  // without the compute time
  std::vector<ScalingPoint> points_;
  std::vector<double> core_loads_;      // per point
  std::vector<ComputePoint> measured_;  // one device; the full batch is last
};

}  // namespace

std::unique_ptr<Experiment> make_scaling_experiment(const StartScaling& request) {
  return std::make_unique<ScalingExperiment>(request);
}

}  // namespace lab
