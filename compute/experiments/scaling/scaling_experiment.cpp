#include "compute/experiments/scaling/scaling_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/experiments/scaling/reference_file.h"
#include "compute/experiments/scaling/scaling_model.h"
#include "compute/experiments/scaling/scaling_runs.h"
#include "compute/machine/machine.h"
#include "compute/run/run_context.h"
#include "compute/train/training_job.h"
#include "compute/train/training_request.h"

namespace lab {
namespace {

constexpr int kMaxPredicted = 65536;
constexpr std::int64_t kMaxSteps = 1'000'000;
constexpr double kDataShare = 0.05;  // of the progress bar, for loading the data

void check_count(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw Error(Errc::InvalidArgument,
              fmt::format("scaling: {} is {}; it must be {} to {}", what, value, least, most));
}

void check_numbers(const StartScaling& r) {
  if (r.modes.empty()) {
    throw Error(Errc::InvalidArgument, "scaling: no mode is chosen; choose strong, weak or both");
  }
  check_count("the number of timed steps", r.steps, 1, kMaxSteps);
  check_count("the number of untimed steps", r.warmup, 0, kMaxSteps);
  check_count("the number of rounds", r.rounds, 1, kMaxSteps);
  check_count("the number of steps before evaluation", r.accuracy_steps, 1, kMaxSteps);
  check_count("the number of devices to predict", r.predict_devices, 0, kMaxPredicted);
  if (r.compute_s && (!(*r.compute_s > 0) || !std::isfinite(*r.compute_s))) {
    throw Error(
        Errc::InvalidArgument,
        fmt::format("scaling: one device's step takes {} s; it must be above 0", *r.compute_s));
  }
  if (r.compute_s && !r.reference_file.empty()) {
    throw Error(Errc::InvalidArgument,
                "scaling: a typed-in compute time and a reference file contradict each other; "
                "give only one of them");
  }
  if (!r.measure && !r.compute_s && r.reference_file.empty()) {
    throw Error(Errc::InvalidArgument,
                "scaling: a prediction without measurement needs one device's compute time; enter "
                "it in or give a reference file");
  }
  if (!r.measure)
    check_count("the number of devices to predict", r.predict_devices, 1, kMaxPredicted);
}

class ScalingExperiment final : public Experiment {
 public:
  explicit ScalingExperiment(const StartScaling& request) : request_(request) {}

  void run(RunContext& ctx) override {
    if (!ctx.ranks().single()) {
      throw Error(Errc::Unsupported,
                  fmt::format("scaling compares device counts within one process, but {} "
                              "processes were started; run it without mpirun",
                              ctx.ranks().size()));
    }
    check_numbers(request_);
    find_link(request_.link);
    if (!request_.reference_file.empty()) reference_ = read_reference(request_.reference_file);
    check_model();
    if (request_.measure) {
      complete(ctx.machine());
      measure(ctx);
    } else {
      check_count("the batch", request_.training.batch, 1, kMaxSteps);
    }
    emit_predictions(ctx);
    ctx.progress(1, "done");
  }

 private:
  // The reference time is specific to its model, whose gradients are all-reduced.
  void check_model() {
    std::string& model = request_.training.model;
    if (model.empty() && reference_) model = reference_->model;
    if (reference_ && reference_->model != model) {
      throw Error(
          Errc::InvalidArgument,
          fmt::format("scaling: {} describes {}, not {}; choose {} as the model",
                      request_.reference_file, reference_->model, model, reference_->model));
    }
    work_.buckets = bucket_loads(model, request_.training.bucket_bytes);
  }

  void complete(Machine& machine) {
    StartTraining& training = request_.training;
    if (training.devices.empty()) {
      for (int i = 0; i < machine.num_cpus(); ++i) training.devices.push_back(cpu(i));
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
    // The line through this batch and the full one reaches down to the smallest predicted share.
    const std::int64_t share = training.batch / std::max(request_.predict_devices, 1);
    if (strong && needs_measured_compute() && share < training.batch) {
      small_batch_ = std::max<std::int64_t>(share, 1);
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
                  fmt::format("scaling: the first {} devices have no share; list devices with a "
                              "share first, or choose other device counts with --counts",
                              n));
    }
  }

  // Ascending, unique, and including one device, the baseline of the others.
  void complete_counts() {
    std::vector<int>& counts = request_.counts;
    const int most = static_cast<int>(request_.training.devices.size());
    for (const int n : counts) check_count("a number of devices to measure", n, 1, most);
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
                  fmt::format("scaling: {} scaling up to {} devices has steps of {} images, but "
                              "there are {} to train on; choose a smaller batch",
                              to_string(mode), most, batch, images));
    }
  }

  void measure(RunContext& ctx) {
    const StartTraining& training = request_.training;
    if (training.data == DataSource::Synthetic) check_batches(training.synthetic_train);
    const Dataset data = load(ctx);
    check_batches(data.train.count);
    const RunContext::Part part(ctx, kDataShare, 1, "");
    ScalingRuns runs(request_, data, small_batch_, ctx);
    runs.run();
    points_ = runs.points();
    measured_ = runs.one_device();
    for (const ScalingPoint& p : points_) {
      core_loads_.push_back(core_load(ctx.machine(), training.devices, p.devices));
    }
    warn_of_unsteady(ctx);
  }

  void warn_of_unsteady(RunContext& ctx) const {
    const Timing& one = points_.front().step;
    if (!one.unstable) return;
    ctx.emit(LogLine{Severity::Warning,
                     fmt::format("one device's steps took {} to {}, so speed-ups and predictions "
                                 "are rough; stop other programs, or measure more steps",
                                 format_seconds(one.p10_s), format_seconds(one.p90_s))});
  }

  Dataset load(RunContext& ctx) const {
    const RunContext::Part part(ctx, 0, kDataShare, "");
    return load_training_data(request_.training, ctx);
  }

  std::string own_basis() const {
    const Device device = request_.training.devices.front();
    return fmt::format("measured on {}: {} for {} images", to_string(device),
                       format_seconds(measured_.back().seconds), measured_.back().images);
  }

  // The requested compute time and its origin.
  std::pair<ComputeTime, std::string> basis() const {
    if (request_.compute_s) {
      const ComputePoint typed{static_cast<double>(request_.training.batch), *request_.compute_s};
      return {fit_compute({&typed, 1}),
              fmt::format("typed in: {} for {} images", format_seconds(*request_.compute_s),
                          request_.training.batch)};
    }
    if (reference_) {
      const ComputePoint read{static_cast<double>(reference_->batch), reference_->step_s};
      return {
          fit_compute({&read, 1}),
          fmt::format("{}: {} for {} images on {}", request_.reference_file,
                      format_seconds(reference_->step_s), reference_->batch, reference_->device)};
    }
    return {fit_compute(measured_), own_basis()};
  }

  void emit_predictions(RunContext& ctx) const {
    if (request_.predict_devices == 0) return;
    const Link& link = find_link(request_.link);
    for (const ScalingMode mode : request_.modes) {
      PredictionCase scenario{mode, request_.training.batch, {}};
      Workload work = work_;
      std::tie(work.compute, scenario.basis) = basis();
      for (const int n : doubling_counts(request_.predict_devices)) {
        ctx.emit(predict(work, link, AllReduceStyle::Overlapped, scenario, n));
      }
      // The model divides batches equally, so it cannot explain listed shares.
      if (measured_.empty() || request_.training.share_policy == SharePolicy::Listed) continue;
      work.compute = fit_compute(measured_);
      scenario.basis = own_basis();
      for (auto& p : explain_mode(work, scenario)) ctx.emit(std::move(p));
    }
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
  std::optional<std::int64_t> small_batch_;
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
