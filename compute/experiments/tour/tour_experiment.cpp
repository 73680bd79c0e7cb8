#include "compute/experiments/tour/tour_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/events/event.h"
#include "compute/core/language.h"
#include "compute/core/monotonic_clock.h"
#include "compute/experiments/matmul/matmul_experiment.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/experiments/transfers/transfer_experiment.h"
#include "compute/machine/machine.h"
#include "compute/measure/measure.h"
#include "compute/measure/statistics.h"
#include "compute/run/run_context.h"

namespace lab {
namespace {

// Budgets of one device in a tour of kUsual_s seconds; peaks and bandwidths have their own, and the
// training takes the time that is left.
constexpr double kUsual_s = 20;
constexpr double kKernel_s = 1.2, kCopy_s = 0.6, kLeastTraining_s = 2;
// A kernel whose single run takes four budgets is refused, and the plain one is slow.
constexpr double kLeastKernel_s = 0.25;

constexpr std::int64_t kTrainImages = 4096, kTestImages = 256;
constexpr std::int64_t kTrialSteps = 8, kWarmupSteps = 3, kMostSteps = 20'000;
constexpr double kReportInterval_s = 0.25;  // between figures that are still being measured

// Whether a share of the peak may say more of other programs than of the kernel: the peak is that
// of the fastest repetition, the kernel's speed that of the median.
bool is_disturbed(const Timing& time) {
  constexpr double kMost = 1.15;
  return is_unsteady(time) || time.median_s > kMost * time.min_s;
}

// Ends a training whose time is over, on a machine that became slower after the trial.
struct TimeOver {};

class Tour final : public Experiment {
 public:
  explicit Tour(const StartTour& request) : request_(request) {}

  void run(RunContext& ctx) override {
    if (!(request_.seconds > 0)) {
      throw Error(Errc::Usage, trf("tour: a duration of {} s is too short; give a time above 0",
                                   request_.seconds));
    }
    choose_devices(ctx);
    const RunContext::Tap tap(ctx, [&](const Payload& payload) {
      std::visit([&](const auto& result) { see(ctx, result); }, payload);
    });
    const double lasts_s = tour_duration_s(request_.seconds, devices_.size());
    scale_ = lasts_s / kUsual_s / static_cast<double>(devices_.size());
    ends_s_ = monotonic_s() + lasts_s;
    ctx.expect(lasts_s);
    stage(ctx, tr("matrix products and memory bandwidth"),
          {TourQuestion::Peak, TourQuestion::Bandwidth},
          [&](Device device) { run_ladder(ctx, device); });
    stage(ctx, tr("a small copy"), {TourQuestion::SmallCopy},
          [&](Device device) { run_copy(ctx, device); });
    stage(ctx, tr("training of LeNet"), {TourQuestion::Training},
          [&](Device device) { run_training(ctx, device); });
    ctx.progress(1, tr("done"));
  }

 private:
  void choose_devices(RunContext& ctx) {
    require_timed("tour", request_.devices);
    devices_ = request_.devices.empty() ? ctx.machine().devices() : request_.devices;
    std::erase_if(devices_, [&](Device device) {
      ctx.machine().at(device);
      if (is_timed(device)) return false;
      ctx.emit(Skipped{to_string(device), tr(kNeverTimed)});
      return true;
    });
  }

  // Answers the questions for every device in turn.
  void stage(RunContext& ctx, const char* what, const std::vector<TourQuestion>& questions,
             const std::function<void(Device)>& measure_device) {
    for (const Device device : devices_) {
      const RunContext::Part part(ctx, 0, 1, fmt::format("{}: {}", to_string(device), what),
                                  RunContext::Part::Names::Outer);
      std::string why = tr("it was not measured");
      try {
        measure_device(device);
      } catch (const Error& e) {
        if (e.code() != Errc::OutOfMemory && e.code() != Errc::Unsupported) throw;
        why = e.what();
      }
      for (const TourQuestion question : questions) complete(ctx, device, question, why);
    }
  }

  TourFigure& figure(Device device, TourQuestion question) {
    TourFigure& found = figures_[{device, question}];
    found.device = device;
    found.question = question;
    return found;
  }

  void complete(RunContext& ctx, Device device, TourQuestion question, const std::string& why) {
    TourFigure& one = figure(device, question);
    one.complete = true;
    if (one.n == 0 && one.missing.empty()) one.missing = why;
    ctx.emit(one);
  }

  // ---- the experiments -----------------------------------------------------------------------

  void run_ladder(RunContext& ctx, Device device) const {
    StartMatmul request;
    request.devices = {device};
    request.kernels = {kPlainRung, "best"};
    request.sizes = {tour_matrix_size(device)};
    request.budget_s = std::max(scale_ * kKernel_s, kLeastKernel_s);
    make_matmul_experiment(request)->run(ctx);
  }

  void run_copy(RunContext& ctx, Device device) const {
    StartTransfers request;
    request.from = {is_gpu(device) ? cpu() : device};
    request.to = {device};
    if (is_gpu(device)) request.memory = {MemoryKind::Pinned};
    request.ops = {TransferOp::Copy};
    request.sizes_bytes = {kTourCopy_bytes};
    request.budget_s = scale_ * kCopy_s;
    make_transfer_experiment(request)->run(ctx);
  }

  // A few steps show how many fit into the device's part of the time that is left.
  void run_training(RunContext& ctx, Device device) {
    const auto left = static_cast<double>(devices_.end() - std::ranges::find(devices_, device));
    const double ends_s = monotonic_s() + (ends_s_ - monotonic_s()) / left;
    StartTraining request;
    request.devices = {device};
    request.synthetic_train = kTrainImages;
    request.synthetic_test = kTestImages;
    request.evaluate = false;
    request.epochs = kMostSteps;
    request.steps = kTrialSteps;
    train(ctx, request);
    const double step_s = step_times_.empty() ? 0 : median(step_times_);
    if (step_s <= 0) return;
    const double left_s = std::max(ends_s - monotonic_s(), scale_ * kLeastTraining_s);
    training_ends_s_ = monotonic_s() + left_s;
    const double fit = std::clamp(left_s / step_s, static_cast<double>(kTrialSteps),
                                  static_cast<double>(kMostSteps));
    request.steps = std::llround(fit);
    train(ctx, request);
  }

  void train(RunContext& ctx, const StartTraining& request) {
    training_on_ = request.devices.front();
    step_times_.clear();
    try {
      make_training_experiment(request)->run(ctx);
    } catch (const TimeOver&) {
    }
    report_training(ctx);
  }

  // ---- their results -------------------------------------------------------------------------

  void see(RunContext& ctx, const PeakSample& peak) {
    TourFigure& one = figure(peak.device, TourQuestion::Peak);
    const double flop = peak.gflops * 1e9 * peak.time.min_s;
    one.value = peak.gflops * 1e9;
    one.threads = peak.threads;
    set_rates(one, flop, peak.time);
    ctx.emit(one);
  }

  void see(RunContext& ctx, const MatmulSample& sample) {
    TourFigure& one = figure(sample.device, TourQuestion::Peak);
    if (!sample.share_of_peak) return;
    if (sample.kernel == kPlainRung) {
      one.plain_share = sample.share_of_peak;
    } else {
      one.best_share = sample.share_of_peak;
      one.share_unsteady = is_disturbed(sample.time);
    }
    ctx.emit(one);
  }

  void see(RunContext& ctx, const CeilingsMeasured& ceilings) {
    TourFigure& one = figure(ceilings.device, TourQuestion::Bandwidth);
    one.threads = ceilings.threads;
    for (const BandwidthCeiling& level : ceilings.bandwidth) {
      if (level.cache_bytes != 0) continue;
      one.value = level.gb_per_s * 1e9;
      set_rates(one, static_cast<double>(level.working_set_bytes), level.time);
    }
    if (one.n == 0) one.missing = skipped_;
    ctx.emit(one);
  }

  // Main memory is the last level whose bandwidth is measured or skipped.
  void see(RunContext& /*ctx*/, const Skipped& skipped) { skipped_ = skipped.reason; }

  // Threads of a CPU device: one, then all; a GPU's copy engine, then its kernel.
  void see(RunContext& ctx, const TransferSample& sample) {
    if (sample.mover == TransferMover::Kernel) return;
    TourFigure& one = figure(sample.to, TourQuestion::SmallCopy);
    if (one.n > 0) {
      one.all_threads_s = sample.time.median_s;
      return ctx.emit(one);
    }
    one.threads = is_gpu(sample.to) ? 0 : sample.threads;
    one.value = one.median = sample.time.median_s;
    one.low = sample.time.p10_s;
    one.high = sample.time.p90_s;
    one.n = sample.time.n;
    one.unstable = sample.time.unstable;
    ctx.emit(one);
  }

  void see(RunContext& ctx, const StepDone& step) {
    if (step.step <= kWarmupSteps || step.images_per_s <= 0) return;
    images_per_step_ = static_cast<double>(step.images);
    step_times_.push_back(images_per_step_ / step.images_per_s);
    const double now_s = monotonic_s();
    if (step.step > kTrialSteps && now_s > training_ends_s_) throw TimeOver{};
    if (now_s - reported_s_ < kReportInterval_s) return;
    reported_s_ = now_s;
    report_training(ctx);
  }

  template <typename Other>
  void see(RunContext& /*ctx*/, const Other& /*result*/) {}

  void report_training(RunContext& ctx) {
    if (step_times_.empty()) return;
    TourFigure& one = figure(training_on_, TourQuestion::Training);
    std::vector<double> times = step_times_;
    set_rates(one, images_per_step_, summarise(times));
    one.unstable = median_spread(times) > MeasureOptions{}.max_spread;
    one.value = one.median;
    ctx.emit(one);
  }

  static void set_rates(TourFigure& to, double work, const Timing& time) {
    to.median = work / time.median_s;
    to.low = work / time.p90_s;
    to.high = work / time.p10_s;
    to.n = time.n;
    to.unstable = time.unstable;
  }

  const StartTour request_;
  std::vector<Device> devices_;
  double scale_ = 1;            // of the budgets
  double ends_s_ = 0;           // when the tour should end, on the steady clock
  double training_ends_s_ = 0;  // the same for the training in progress
  std::map<std::pair<Device, TourQuestion>, TourFigure> figures_;
  std::string skipped_ = tr("it was not measured");
  Device training_on_;
  double images_per_step_ = 0, reported_s_ = 0;
  std::vector<double> step_times_;  // of the training in progress
};

}  // namespace

std::unique_ptr<Experiment> make_tour_experiment(const StartTour& request) {
  return std::make_unique<Tour>(request);
}

}  // namespace lab
