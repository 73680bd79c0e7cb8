// Lesson "speedup": more devices shorten only the part of a training step that grows with
// the batch.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <span>

#include "compute/core/book/book_runs.h"
#include "compute/core/error.h"
#include "compute/core/events/measured_cases.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/several_devices/several_device_lessons.h"
#include "compute/experiments/scaling/scaling_model.h"
#include "compute/measure/statistics.h"
#include "compute/train/step_profile.h"
#include "compute/train/trainer.h"

namespace lab::lessons {
namespace {

constexpr double kSmallRate = 0.01;
constexpr std::int64_t kBucketBytes = std::int64_t{25} << 20;
constexpr int kMostDevices = 8;  // of the smallest batch, every device has an image
constexpr std::int64_t kDeepBatch = 8;
constexpr std::array kModelFlops = {8.3e5, 9.2e8};  // per image, of LeNet and ResNet-18
constexpr std::size_t kFewestRounds = 3, kMostRounds = 40;

struct PayModel {
  const char* name;   // "lenet"
  const char* shown;  // "LeNet"
  std::int64_t batch = 0;
  double budget_s = 0;  // of each of the two series of rounds
};

struct StepKind {
  int devices = 1;
  std::int64_t batch = 0;                             // of all devices together
  auto operator<=>(const StepKind&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct TimedSteps {
  std::vector<double> seconds;
  std::vector<StepSplit> splits;
  double median_s() const { return median(seconds); }
};

// Trainers of one model on 1, 2, ... devices, and the times of their steps.
class StepTimer {
 public:
  StepTimer(LessonStage& stage, const char* model, const ImageSet& images)
      : stage_(stage), model_(model), images_(images) {}

  // Makes one step of each kind per round, so that clock drift affects all kinds equally. The first
  // round is not counted.
  std::map<StepKind, TimedSteps> run(const std::vector<StepKind>& kinds, double budget_s) {
    std::map<StepKind, TimedSteps> times;
    for (const StepKind& kind : kinds) time_step(kind, nullptr);
    const double end_s = monotonic_s() + budget_s;
    for (std::size_t round = 0; round < kMostRounds; ++round) {
      if (round >= kFewestRounds && monotonic_s() > end_s) break;
      for (const StepKind& kind : kinds) time_step(kind, &times[kind]);
    }
    return times;
  }

  // The loss of the very first step, which all numbers of devices share.
  double first_loss(int devices, std::int64_t batch) {
    trainers_.erase(devices);
    return trainer(devices, batch).step(loader(batch), 0, kSmallRate, {}).loss;
  }

 private:
  void time_step(const StepKind& kind, TimedSteps* into) {
    stage_.context().checkpoint();
    Trainer& trainer = this->trainer(kind.devices, kind.batch);
    const BatchLoader& loader = this->loader(kind.batch);
    const double begin_s = monotonic_s();
    // Whole batches only: the last one of an epoch may have fewer images.
    const std::int64_t whole = std::max<std::int64_t>(1, images_.count / kind.batch);
    const StepResult& result =
        trainer.step(loader, next_++ % whole, kSmallRate, {.stop = stage_.context().stop_token()});
    const double seconds = monotonic_s() - begin_s;
    if (into == nullptr) return;
    into->seconds.push_back(seconds);
    into->splits.push_back(result.devices.empty() ? StepSplit{.compute_s = seconds}
                                                  : split_of(result.devices));
  }

  Trainer& trainer(int devices, std::int64_t batch) {
    std::unique_ptr<Trainer>& made = trainers_[devices];
    if (!made) {
      std::vector<DeviceContext*> contexts;
      contexts.reserve(static_cast<std::size_t>(devices));
      for (int i = 0; i < devices; ++i) contexts.push_back(&stage_.machine().at(cpu(i)));
      TrainerOptions options;
      options.model = model_;
      options.batch = batch;
      made = std::make_unique<Trainer>(contexts, options, stage_.context().stop_token());
    }
    return *made;
  }

  const BatchLoader& loader(std::int64_t batch) {
    std::unique_ptr<BatchLoader>& made = loaders_[batch];
    if (!made) {
      made = std::make_unique<BatchLoader>(images_, batch, BatchOrder::Sequential, 0);
      made->start_epoch(0);
    }
    return *made;
  }

  LessonStage& stage_;
  const char* const model_;
  const ImageSet& images_;
  std::map<int, std::unique_ptr<Trainer>> trainers_;
  std::map<std::int64_t, std::unique_ptr<BatchLoader>> loaders_;
  std::int64_t next_ = 0;
};

// What a prediction is made of, measured on one device.
struct StepConstants {
  Workload work;
  Link memory;  // gradients are summed in memory, by the cores that compute

  // A step of devices of which up to `load` share a core: they take turns, and save nothing in its
  // caches.
  double step_s(const StepKind& kind, int load) const {
    Workload shared = work;
    if (load > 1) {
      shared.compute.fixed_s = load * std::max(0.0, work.compute.fixed_s);
      shared.compute.per_image_s *= load;
    }
    return predict_step(shared, memory, AllReduceStyle::OnCores, kind.devices, kind.batch).step_s;
  }
};

std::vector<Device> first_cpus(int count) {
  std::vector<Device> devices;
  devices.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) devices.push_back(cpu(i));
  return devices;
}

int load_of_first(LessonStage& stage, int devices) {
  return core_load(stage.machine(), first_cpus(devices));
}

ComputeTime fit_four_batches(StepTimer& timer, const PayModel& model) {
  std::vector<StepKind> kinds;
  for (const std::int64_t part : {8, 4, 2, 1}) kinds.push_back({1, model.batch / part});
  std::vector<ComputePoint> points;
  for (const auto& [kind, times] : timer.run(kinds, model.budget_s)) {
    points.push_back({static_cast<double>(kind.batch), times.median_s()});
  }
  return fit_compute(points);
}

// Adds two arrays as long as the gradients and writes the sum to both, as the reducer does.
Link measure_sum(LessonStage& stage, double bytes) {
  std::vector<float> a(static_cast<std::size_t>(bytes / sizeof(float)), 1.0F), b(a.size(), 1e-3F);
  const double whole_s = stage
                             .time([&] {
                               for (std::size_t i = 0; i < a.size(); ++i) {
                                 a[i] = b[i] = 0.5F * (a[i] + b[i]);
                               }
                             })
                             .median_s;
  // Two devices share the work: each sums one half.
  return {"memory", "", 0, 2 * bytes / whole_s / 1e9};
}

StepConstants measure_pay_constants(LessonStage& stage, StepTimer& timer, const PayModel& model) {
  StepConstants constants;
  constants.work.compute = fit_four_batches(timer, model);
  constants.work.buckets = bucket_loads(model.name, kBucketBytes);
  constants.memory = measure_sum(stage, constants.work.bytes());
  return constants;
}

// Cases of k devices: the same batch divided among them, or a whole batch for each.
struct PayCase {
  ScalingMode mode = ScalingMode::Strong;
  int devices = 2;
  StepKind kind(const PayModel& model) const {
    return {devices, mode == ScalingMode::Strong ? model.batch : model.batch * devices};
  }
  std::string series(const PayModel& model) const {
    return mode == ScalingMode::Strong
               ? trf("{}, {} images on {} devices", model.shown, model.batch, devices)
               : trf("{}, {} images on each of {} devices", model.shown, model.batch, devices);
  }
};

std::vector<PayCase> pay_cases(int most) {
  std::vector<PayCase> cases;
  for (const ScalingMode mode : {ScalingMode::Strong, ScalingMode::Weak}) {
    for (const int n : doubling_counts(most)) {
      if (n > 1) cases.push_back({mode, n});
    }
  }
  return cases;
}

void predict_case(LessonStage& stage, const StepConstants& constants, const PayModel& model,
                  const PayCase& one) {
  const StepKind kind = one.kind(model);
  const int load = load_of_first(stage, one.devices);
  const double step_s = constants.step_s(kind, load);
  const std::string turns = load > 1 ? trf("{} turns * ", load) : "";
  const double images = static_cast<double>(kind.batch) / static_cast<double>(model.batch);
  const ComputeTime& compute = constants.work.compute;
  LessonPrediction prediction;
  prediction.series = one.series(model);
  prediction.value = images * compute.at(static_cast<double>(model.batch)) / step_s;
  prediction.unit = "x";
  if (one.mode == ScalingMode::Strong) {
    // Small batches may stay in the caches and save more than a step's fixed time.
    const bool saves = compute.fixed_s < 0;
    prediction.formula =
        saves ? trf("t(B) / ({}t(B / k) + sum), t(B) = per image * B - saved in caches", turns)
              : trf("t(B) / ({}t(B / k) + sum), t(B) = fixed + per image * B", turns);
    prediction.constants = {
        {saves ? tr("saved in caches") : tr("fixed"), std::abs(compute.fixed_s), "s"},
        {tr("per image"), compute.per_image_s, "s"},
        {tr("sum"), ring_all_reduce_s(constants.work.bytes(), constants.memory, kind.devices),
         "s"}};
  } else {
    prediction.formula = trf("k * t(B) / ({}t(B) + sum)", turns);
  }
  stage.predict(std::move(prediction));
}

// Speed-up of each step on k devices over the median step of one: images per second on both.
std::vector<double> speedups_of(const TimedSteps& one, const TimedSteps& many, double images) {
  std::vector<double> ratios;
  ratios.reserve(many.seconds.size());
  for (const double seconds : many.seconds) ratios.push_back(images * one.median_s() / seconds);
  return ratios;
}

void report_case(LessonStage& stage, const std::string& series, double value,
                 std::vector<double> ratios) {
  LessonSample sample;
  sample.series = series;
  sample.value = value;
  sample.unit = "x";
  sample.draws = std::move(ratios);
  stage.sample(std::move(sample));
}

// From the step that would take 1/k of one device's to the measured one.
void explain_case(LessonStage& stage, const StepConstants& constants, const PayModel& model,
                  int devices, double one_s, const TimedSteps& many) {
  const auto k = static_cast<double>(devices);
  const double share = static_cast<double>(model.batch) / k;
  const ComputeTime& compute = constants.work.compute;
  const StepSplit split = median_split(many.splits);
  LessonGap gap;
  gap.what = trf("{} on {} devices, all of it divided", model.shown, devices);
  gap.unit = "s";
  gap.predicted = one_s / k;
  gap.measured = many.median_s();
  gap.parts = {{tr("fixed cost per step"),
                compute.at(share) - compute.at(static_cast<double>(model.batch)) / k},
               {tr("exposed sum"), split.exposed_s},
               {tr("sum during backward"), split.all_reduce_s - split.exposed_s},
               {tr("waiting"), split.imbalance_s},
               {tr("shared cores, memory or clock"), split.compute_s - compute.at(share)}};
  stage.gap(std::move(gap));
}

// Compares the steps on one device and on two with those that the constants predict.
void judge_steps(LessonStage& stage, const StepConstants& constants, const PayModel& model,
                 const TimedSteps& one, const TimedSteps& two) {
  const double one_s = constants.work.compute.at(static_cast<double>(model.batch));
  const double two_s = constants.step_s({2, model.batch}, load_of_first(stage, 2));
  if (stage.too_busy(trf("a step of {} on one device", model.shown), one_s, one.median_s())) return;
  stage.too_busy(trf("a step of {} on two devices", model.shown), two_s, two.median_s());
}

// Measures all cases of a model; returns the speed-up of the divided batch on two devices.
double measure_model(LessonStage& stage, const PayModel& model, StepTimer& timer,
                     const StepConstants& constants, const std::vector<PayCase>& cases) {
  std::vector<StepKind> kinds = {{1, model.batch}};
  kinds.reserve(cases.size() + 1);
  for (const PayCase& one : cases) kinds.push_back(one.kind(model));
  auto times = timer.run(kinds, model.budget_s);
  const TimedSteps& alone = times[kinds.front()];
  double divided = 0;
  for (const PayCase& one : cases) {
    const StepKind kind = one.kind(model);
    const double images = static_cast<double>(kind.batch) / static_cast<double>(model.batch);
    std::vector<double> ratios = speedups_of(alone, times[kind], images);
    const bool strong = one.mode == ScalingMode::Strong;
    const double ratio = images * alone.median_s() / times[kind].median_s();
    if (strong && one.devices == 2) {
      divided = ratio;
      judge_steps(stage, constants, model, alone, times[kind]);
    }
    report_case(stage, one.series(model), ratio, std::move(ratios));
    if (strong) {
      explain_case(stage, constants, model, one.devices, alone.median_s(), times[kind]);
    }
  }
  return divided;
}

// LeNet has no batch norm, which would normalise over the slices.
void check_first_loss(LessonStage& stage, const PayModel& lenet, StepTimer& timer) {
  const double one = timer.first_loss(1, lenet.batch), two = timer.first_loss(2, lenet.batch);
  stage.check(tr("LeNet starts from the same loss on one device and on two"),
              std::abs(one - two) < 1e-3 * one, fmt::format("{:.6f}, {:.6f}", one, two));
}

void report_recorded_pairs(LessonStage& stage) {
  const std::vector<double> deep = chapter_speedups("resnet18"), lenet = chapter_speedups("lenet");
  const Spread of_deep = spread_of(deep), of_lenet = spread_of(lenet);
  report_case(stage, tr("LeNet, recorded on 2 GPUs"), of_lenet.mean, lenet);
  report_case(stage, tr("ResNet-18, recorded on 2 GPUs"), of_deep.mean, deep);
  stage.check(tr("103 notebooks recorded ResNet-18 on one and two GPUs, with a mean of 1.55x"),
              of_deep.n == 103 && std::abs(of_deep.mean - 1.547) < 5e-4, mean_text(of_deep, "x"));
  stage.check(tr("138 notebooks recorded LeNet on one and two GPUs, with a mean of 0.96x"),
              of_lenet.n == 138 && std::abs(of_lenet.mean - 0.964) < 5e-4,
              mean_text(of_lenet, "x"));
}

// What a model's step on one device is made of, and what the second device gained.
struct PayVerdict {
  StepConstants constants;
  double divided = 0;  // speed-up on two devices
};

std::string verdict_text(const PayModel& model, const PayVerdict& verdict) {
  const ComputeTime& compute = verdict.constants.work.compute;
  const double fixed = std::max(0.0, compute.fixed_s);
  const double share = fixed / compute.at(static_cast<double>(model.batch));
  const double sum_s =
      ring_all_reduce_s(verdict.constants.work.bytes(), verdict.constants.memory, 2);
  constexpr double kNotable = 0.05;
  const char* const paid = verdict.divided > 1 + kNotable ? tr("the second device paid")
                           : verdict.divided < 1 - kNotable
                               ? tr("the second device cost time")
                               : tr("the second device changed little");
  return trf("{}: {:.0f} % of a step is fixed, the sum takes {}; {}.", model.shown, 100 * share,
             format_seconds(sum_s), paid);
}

// From the measured values only: a small batch pays if its images are much work.
void explain_speedups(LessonStage& stage, std::span<const PayModel> models,
                      std::span<const PayVerdict> verdicts) {
  const auto work = [&](std::size_t i) {
    return kModelFlops[i] * static_cast<double>(models[i].batch);
  };
  std::string text =
      verdict_text(models[0], verdicts[0]) + " " + verdict_text(models[1], verdicts[1]);
  if (verdicts[1].divided > verdicts[0].divided) {
    text += " " + trf("{} images of ResNet-18 are {} times the work of {} images of LeNet and "
                      "gained more.",
                      models[1].batch, quantity_text(std::round(work(1) / work(0)), ""),
                      models[0].batch);
  }
  text += " " + trf("The book recorded {:.2f} for LeNet and {:.2f} for ResNet-18 on two GPUs.",
                    spread_of(chapter_speedups("lenet")).mean,
                    spread_of(chapter_speedups("resnet18")).mean);
  stage.explain(text);
}

void run_speedup_lesson(LessonStage& stage) {
  const int most = std::min(stage.machine().num_cpus(), kMostDevices);
  if (most < 2) {
    throw Error(Errc::Unsupported,
                tr("lesson speedup: needs two CPU devices; split the CPU with --cpu-devices 2"));
  }
  stage.note_shared_cores(first_cpus(most));
  const auto bound = stage.machine().at(cpu()).threads().bind_caller();
  const PayModel models[] = {{"lenet", "LeNet", static_cast<std::int64_t>(stage.vary()), 0.8},
                             {"resnet18", "ResNet-18", kDeepBatch, 2.2}};
  const std::vector<PayCase> cases = pay_cases(most);
  const Dataset data = make_synthetic_garments(models[0].batch * most, 1, 0);
  std::vector<PayVerdict> verdicts;
  std::size_t step = 0;
  for (const PayModel& model : models) {
    StepTimer timer(stage, model.name, data.train);
    stage.step(step++);
    const StepConstants constants = measure_pay_constants(stage, timer, model);
    for (const PayCase& one : cases) predict_case(stage, constants, model, one);
    stage.step(step++);
    verdicts.push_back({constants, measure_model(stage, model, timer, constants, cases)});
    if (&model == &models[0]) check_first_loss(stage, model, timer);
  }
  stage.step(step);
  report_recorded_pairs(stage);
  stage.answer({verdicts[0].divided, verdicts[1].divided});
  stage.conclude(trf(
      "On two devices, a step of LeNet with {} images was {:.2f} times as fast as on one, and a "
      "step of ResNet-18 with {} images {:.2f} times.",
      models[0].batch, verdicts[0].divided, models[1].batch, verdicts[1].divided));
  explain_speedups(stage, models, verdicts);
}

std::vector<LessonStep> speedup_steps() {
  return {
      {LAB_TEXT("LeNet on one device: four batch sizes"),
       {"for b in (32, 64, 128, 256): time_step(net, b)",
        "for b in (32, 64, 128, 256): time_step(net, b)",
        "for b in (32, 64, 128, 256): time_step(net, b)",
        "for b in (32, 64, 128, 256): time_step(net, b)", "fit_compute(points)"}},
      {LAB_TEXT("LeNet on several devices"),
       {"net = nn.DataParallel(net, device_ids=[0, 1])", "gluon.utils.split_and_load(X, devices)",
        "tf.distribute.MirroredStrategy()", "jax.pmap(train_step, axis_name='devices')",
        "Trainer trainer({&cpu0, &cpu1}, {.model = \"lenet\"})"}},
      {LAB_TEXT("ResNet-18 on one device: four batch sizes"),
       {"for b in (1, 2, 4, 8): time_step(net, b)", "for b in (1, 2, 4, 8): time_step(net, b)",
        "for b in (1, 2, 4, 8): time_step(net, b)", "for b in (1, 2, 4, 8): time_step(net, b)",
        "fit_compute(points)"}},
      {LAB_TEXT("ResNet-18 on several devices"),
       {"net = nn.DataParallel(net, device_ids=[0, 1])", "gluon.utils.split_and_load(X, devices)",
        "tf.distribute.MirroredStrategy()", "jax.pmap(train_step, axis_name='devices')",
        "trainer.step(loader, step, lr, {})"}},
      {LAB_TEXT("The pairs that the book recorded"),
       {"", "", "", "", "chapter_speedups(\"resnet18\")"}}};
}

}  // namespace

Lesson speedup_lesson() {
  LessonInfo info;
  info.name = "speedup";
  info.title = LAB_TEXT("Does the second device pay?");
  info.track = LessonTrack::SeveralDevices;
  info.devices = 2;
  info.text = {
      LAB_TEXT("A step takes a fixed time, for starting every operation, and a time per image. Two "
               "devices halve the second part only, and then their gradients must be summed."),
      LAB_TEXT("Four batch sizes on one device show both parts: t(B) = fixed + per image * B. The "
               "step on k devices is predicted as t(B / k) plus the sum."),
      LAB_TEXT("LeNet needs little work per image, ResNet-18 a thousand times more. The book's "
               "notebooks recorded LeNet 138 times and ResNet-18 103 times on one and on two V100 "
               "GPUs, with PyTorch.")};
  info.steps = speedup_steps();
  info.question = {
      .text =
          LAB_TEXT("How many times as fast are two devices as one? First LeNet, {} images of 0.8 "
                   "MFLOP; then ResNet-18, 8 images of 0.9 GFLOP."),
      .unit = "x",
      .low = 0.5,
      .high = 3,
      .at = {kModelFlops.begin(), kModelFlops.end()},
      .at_unit = "FLOP",
      .at_names = {"LeNet", "ResNet-18"},
      .why = LAB_TEXT("Computing divides; starting a step and summing the gradients do not. The "
                      "larger the part of a step that divides, the nearer to 2.")};
  info.vary = LessonVary{LAB_TEXT("Batch of LeNet"), LAB_TEXT("images"), 16, 1024, 256, true};
  StartScaling free;
  free.training.model = "lenet";
  free.modes = {ScalingMode::Strong, ScalingMode::Weak};
  info.free = free;
  info.set_free = [](JobCommand& command, double batch) {
    std::get<StartScaling>(command).training.batch = static_cast<std::int64_t>(batch);
  };
  return {info, run_speedup_lesson};
}

}  // namespace lab::lessons
