// Lesson "sixteen": what many devices gain over a link, and which share an unequal device earns.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "compute/core/events/measured_cases.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/data/dataset.h"
#include "compute/experiments/lessons/several_devices/several_device_lessons.h"
#include "compute/experiments/scaling/scaling_model.h"
#include "compute/measure/statistics.h"
#include "compute/train/trainer.h"

namespace lab::lessons {
namespace {

constexpr const char* kUnequalModel = "lenet";
constexpr std::int64_t kUnequalBatch = 128;
constexpr std::int64_t kUnequalSteps = 8;  // per share; the first is not timed
constexpr std::int64_t kAutoSteps = 28;    // enough for three decisions
constexpr std::int64_t kMostSteps = 80;    // with decisions in the last of them
constexpr double kUnequalRate = 0.1;
constexpr double kSameShare = 0.02;  // of the batch; less does not change the answer
constexpr int kManyDevices = 16;
constexpr const char* kFanLinks[] = {"nvlink", "pcie4", "ethernet10"};

const char* label_of_link(const char* name) {
  return kLinkNames[position_of(kLinkNames, name)].label;
}

// Time that the calling thread has computed, without the time that other programs take from it.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Makes a device `factor` times as slow: after each operation its thread stays busy for factor - 1
// times as long.
class Brake {
 public:
  explicit Brake(double factor) : factor_(factor) {}

  void begin() { last_s_ = thread_seconds(); }
  void after_operation() {
    const double now_s = thread_seconds();
    const double until_s = now_s + (factor_ - 1) * (now_s - last_s_);
    while (thread_seconds() < until_s) {
    }
    begin();
  }

 private:
  const double factor_;
  double last_s_ = 0;
};

// Steps of one training, with the first of its devices slowed down.
struct UnequalRun {
  Timing step;
  std::vector<double> losses;
  double slow_share = 0;                         // of the last step's images
  double slow_s = 0, fast_s = 0, exposed_s = 0;  // medians of each device's work, and of the sum
  bool complete = true;                          // every step used the whole batch
};

class UnequalTraining {
 public:
  UnequalTraining(LessonStage& stage, double slowdown)
      : stage_(stage),
        slowdown_(slowdown),
        data_(make_synthetic_garments(kUnequalBatch * kAutoSteps, 1, 0)) {}

  // `slow_first`: the first device is slowed down. Without shares, they are measured if there are
  // several devices.
  UnequalRun run(const std::vector<DeviceContext*>& devices, bool slow_first,
                 const std::vector<double>& shares, std::int64_t batch = kUnequalBatch) {
    stage_.context().checkpoint();
    const bool measured = shares.empty() && devices.size() > 1;
    TrainerOptions options;
    options.model = kUnequalModel;
    options.batch = batch;
    options.seed = 1;
    options.shares = shares;
    options.share_policy = measured         ? SharePolicy::Auto
                           : shares.empty() ? SharePolicy::Equal
                                            : SharePolicy::Listed;
    const auto bound = devices.front()->threads().bind_caller();
    Trainer trainer(devices, options, stage_.context().stop_token());
    const BatchLoader loader(data_.train, batch, BatchOrder::Sequential, 0);
    Brake brake(slow_first ? slowdown_ : 1);
    nn::PassOptions pass;
    pass.between_ops = [&brake] { brake.after_operation(); };
    return steps(trainer, loader, brake, pass, measured ? kAutoSteps : kUnequalSteps);
  }

 private:
  static UnequalRun steps(Trainer& trainer, const BatchLoader& loader, Brake& brake,
                          const nn::PassOptions& pass, std::int64_t count) {
    UnequalRun run;
    const std::int64_t whole = loader.steps_per_epoch();
    std::vector<double> steps_s, slow_s, fast_s, exposed_s;
    const auto too_few = [&](std::int64_t i) {  // since the last decision
      return steps_s.empty() || (std::ssize(steps_s) < kUnequalSteps - 1 && i < kMostSteps);
    };
    std::int64_t slow_images = -1;
    for (std::int64_t i = 0; i < count || too_few(i); ++i) {
      brake.begin();
      const double begin_s = monotonic_s();
      const StepResult& result = trainer.step(loader, i % whole, kUnequalRate, pass);
      const double step_s = monotonic_s() - begin_s;
      run.losses.push_back(result.loss);
      run.complete = run.complete && result.images == loader.batch_size(i % whole);
      const std::int64_t images = result.devices.empty() ? 0 : result.devices[0].images;
      if (images != slow_images) {  // a new division, whose first step prepares it
        for (auto* times : {&steps_s, &slow_s, &fast_s, &exposed_s}) times->clear();
        slow_images = images;
        continue;
      }
      steps_s.push_back(step_s);
      if (result.devices.empty()) continue;
      const DeviceStep &slow = result.devices[0], &fast = result.devices[1];
      run.complete = run.complete && slow.images + fast.images == result.images;
      run.slow_share = static_cast<double>(slow.images) / static_cast<double>(result.images);
      slow_s.push_back(slow.compute_s);
      fast_s.push_back(fast.compute_s);
      exposed_s.push_back(std::max(slow.exposed_s, fast.exposed_s));
    }
    if (!slow_s.empty()) {
      run.slow_s = median(slow_s);
      run.fast_s = median(fast_s);
      run.exposed_s = median(exposed_s);
    }
    run.step = summarise(steps_s);
    return run;
  }

  LessonStage& stage_;
  const double slowdown_;
  const Dataset data_;
};

// Times of both devices alone.
struct UnequalSpeeds {
  ComputeTime slow, fast;

  double step_s(double slow_share) const {
    return std::max(slow.at(slow_share * kUnequalBatch), fast.at((1 - slow_share) * kUnequalBatch));
  }
  // Where both devices finish together.
  double best_share() const {
    const double images = (fast.fixed_s - slow.fixed_s + fast.per_image_s * kUnequalBatch) /
                          (slow.per_image_s + fast.per_image_s);
    return std::clamp(images / kUnequalBatch, 0.0, 1.0);
  }
  // None, half and all of the best share, between that and half of the batch, and half; each in
  // multiples of eight images, of which the kernels waste the least.
  std::vector<double> listed_shares() const {
    const double best = std::min(best_share(), 0.5);
    std::vector<double> shares;
    for (const double share : {0.0, best / 2, best, (best + 0.5) / 2, 0.5}) {
      const double whole = 8 * std::round(share * kUnequalBatch / 8) / kUnequalBatch;
      if (shares.empty() || whole > shares.back()) shares.push_back(whole);
    }
    return shares;
  }
};

ComputeTime time_alone(UnequalTraining& training, DeviceContext* device, bool slow) {
  std::vector<ComputePoint> points;
  for (const std::int64_t images : {kUnequalBatch / 4, kUnequalBatch}) {
    const UnequalRun run = training.run({device}, slow, {}, images);
    points.push_back({static_cast<double>(images), run.step.median_s});
  }
  ComputeTime time = fit_compute(points);
  time.fixed_s = std::max(0.0, time.fixed_s);
  return time;
}

void predict_share(LessonStage& stage, const std::string& series, const UnequalSpeeds& alone,
                   double share) {
  LessonPrediction prediction;
  prediction.series = series;
  prediction.x = 100 * share;
  prediction.x_unit = "%";
  prediction.value = alone.step_s(share);
  prediction.unit = "s";
  prediction.formula = tr("the longer of both devices: fixed + images * time per image");
  prediction.constants = {{tr("fast device, per image"), alone.fast.per_image_s, "s"},
                          {tr("slow device, per image"), alone.slow.per_image_s, "s"},
                          {tr("fast device, fixed"), alone.fast.fixed_s, "s"},
                          {tr("slow device, fixed"), alone.slow.fixed_s, "s"}};
  stage.predict(prediction);
}

void sample_share(LessonStage& stage, const std::string& series, const UnequalRun& run) {
  stage.sample({.series = series,
                .x = 100 * run.slow_share,
                .x_unit = "%",
                .value = run.step.median_s,
                .unit = "s",
                .time = run.step});
}

// Efficiency of 1 to 16 devices like the fast one over each link; returns that of 16 in percent.
std::vector<double> predict_fan(LessonStage& stage, const ComputeTime& compute) {
  Workload work;
  work.compute = compute;
  work.buckets = bucket_loads(kUnequalModel, std::int64_t{25} << 20);
  const PredictionCase scenario{.mode = ScalingMode::Strong, .batch = kUnequalBatch, .basis = {}};
  std::vector<double> at_most;
  bool falls = true;
  for (const char* name : kFanLinks) {
    const Link& link = find_link(name);
    double before = INFINITY;
    for (const int devices : doubling_counts(kManyDevices)) {
      const double efficiency =
          predict(work, link, AllReduceStyle::Overlapped, scenario, devices).efficiency;
      falls = falls && efficiency <= before * (1 + 1e-9);
      before = efficiency;
      LessonPrediction prediction;
      prediction.series = trf("efficiency over {}", label_of_link(name));
      prediction.x = devices;
      prediction.value = 100 * efficiency;
      prediction.unit = "%";
      prediction.formula = tr("time of one device / (devices * (its part + exposed sum))");
      prediction.constants = {{tr("one device"), compute.at(kUnequalBatch), "s"},
                              {tr("latency"), link.latency_s, "s"},
                              {tr("bandwidth"), link.gb_per_s * 1e9, "B/s"},
                              {tr("gradients"), work.bytes(), "B"}};
      stage.predict(prediction);
    }
    at_most.push_back(100 * before);
  }
  stage.check(tr("the predicted efficiency falls with the number of devices"), falls);
  return at_most;
}

std::string worth_of_slow_device(double saved_s, double sum_s) {
  if (saved_s <= 0) {
    return trf("drop it: it saves no more than steps vary, and the sum costs up to {}",
               format_seconds(sum_s));
  }
  return sum_s < saved_s ? trf("keep it: it saves {} per step, and the sum costs at most {}",
                               format_seconds(saved_s), format_seconds(sum_s))
                         : trf("drop it: it saves {} per step, and the sum costs up to {}",
                               format_seconds(saved_s), format_seconds(sum_s));
}

// Whether the slow device saves more than summing with it costs, for each link. `saved_s` is
// measured, so that the verdict agrees with the lesson's sentence.
void weigh_links(LessonStage& stage, double saved_s) {
  Workload work;
  work.buckets = bucket_loads(kUnequalModel, std::int64_t{25} << 20);
  for (const char* name : kFanLinks) {
    stage.observe(
        trf("the slow device over {}", label_of_link(name)),
        worth_of_slow_device(saved_s, ring_all_reduce_s(work.bytes(), find_link(name), 2)));
  }
  if (stage.machine().num_gpus() > 0) {
    stage.observe(tr("a GPU with the CPU"),
                  tr("not measured here; train with --devices cuda:0,cpu:0 --shares auto, which "
                     "divides by both speeds in the same way"));
  }
}

void explain_step(LessonStage& stage, const std::string& series, const UnequalSpeeds& alone,
                  const UnequalRun& run) {
  const double predicted_s = alone.step_s(run.slow_share);
  stage.gap({series,
             "s",
             predicted_s,
             run.step.median_s,
             {{tr("shared cores, memory or clock"), std::max(run.slow_s, run.fast_s) - predicted_s},
              {tr("exposed sum"), run.exposed_s}}});
}

bool same_losses(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!(std::abs(a[i] - b[i]) <= 1e-3 * std::abs(a[i]))) return false;
  }
  return true;
}

void check_unequal(LessonStage& stage, const std::vector<UnequalRun>& runs) {
  stage.check(tr("the shares sum to the whole batch in every step"),
              std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run.complete; }));
  stage.check(tr("the losses do not depend on the shares, up to rounding"),
              std::all_of(runs.begin(), runs.end(), [&](const UnequalRun& run) {
                return same_losses(run.losses, runs.front().losses);
              }));
}

double half_spread(const Timing& step) {
  return (step.p90_s - step.p10_s) / 2;
}

// The fastest of the runs that `counts`, of which there is at least one.
template <typename Counts>
const UnequalRun& fastest_of(const std::vector<UnequalRun>& runs, const Counts& counts) {
  auto fastest = std::find_if(runs.begin(), runs.end(), counts);
  for (auto run = fastest; run != runs.end(); ++run) {
    if (counts(*run) && run->step.median_s < fastest->step.median_s) fastest = run;
  }
  return *fastest;
}

void run_sixteen_lesson(LessonStage& stage) {
  const auto [fast, slow] = stage.two_cpus();
  const std::vector<DeviceContext*> pair = {slow, fast};
  const Device used[] = {fast->device(), slow->device()};
  stage.note_shared_cores(used);
  UnequalTraining training(stage, stage.vary());
  stage.step(0);
  const UnequalSpeeds alone{time_alone(training, slow, true), time_alone(training, fast, false)};
  const std::string listed = tr("time per step");
  const std::vector<double> shares = alone.listed_shares();
  for (const double share : shares) predict_share(stage, listed, alone, share);
  const std::string best = tr("best share of the slow device");
  LessonPrediction prediction;
  prediction.series = best;
  prediction.value = 100 * alone.best_share();
  prediction.unit = "%";
  prediction.formula = tr("both devices finish together");
  stage.predict(prediction);

  stage.step(1);
  std::vector<UnequalRun> runs;
  for (const double share : shares) {
    runs.push_back(training.run(pair, true, {share, 1 - share}));
    sample_share(stage, listed, runs.back());
  }
  const UnequalRun equal = runs.back();
  stage.step(2);
  runs.push_back(training.run(pair, true, {}));
  const std::string automatic_step = tr("time per step, shares by speed");
  sample_share(stage, automatic_step, runs.back());
  explain_step(stage, automatic_step, alone, runs.back());
  const UnequalRun& fastest = fastest_of(runs, [](const auto&) { return true; });
  // Measured shares may leave the slow device without images, too.
  const UnequalRun& without =
      fastest_of(runs, [](const UnequalRun& run) { return run.slow_share == 0; });
  stage.count(best, 100 * fastest.slow_share, "%");
  // Only a disturbed run of another share that could have been the fastest changes the answer.
  for (const UnequalRun& run : runs) {
    const double expected_s = alone.step_s(run.slow_share);
    const bool rival = std::abs(run.slow_share - fastest.slow_share) > kSameShare &&
                       expected_s < fastest.step.median_s;
    if (rival && stage.too_busy(listed, expected_s, run.step.median_s)) break;
  }
  stage.answer({100 * fastest.slow_share});
  // The least of several medians is below its true value, so a small saving may be none.
  const double saved_s = without.step.median_s - fastest.step.median_s;
  const double varies_s = std::max(half_spread(without.step), half_spread(fastest.step));
  const bool saves = saved_s > varies_s;
  if (fastest.slow_share > 0 && !saves) {
    stage.leave_open(
        tr("The slow device saves no more than the steps vary: the times do not "
           "decide. Measure again when other programs are idle."));
  }
  stage.gap({best, "%", 100 * alone.best_share(), 100 * fastest.slow_share, {}});
  check_unequal(stage, runs);

  stage.step(3);
  const std::vector<double> at_sixteen = predict_fan(stage, alone.fast);
  weigh_links(stage, saves ? saved_s : 0);
  const std::string alone_text = format_seconds(without.step.median_s);
  const std::string half_text = format_seconds(equal.step.median_s);
  const std::string shares_text =
      fastest.slow_share > 0
          ? trf("With {:.1f} % of the batch on the slow device a step took {}, with half of it {}, "
                "and with none {}.",
                100 * fastest.slow_share, format_seconds(fastest.step.median_s), half_text,
                alone_text)
          : trf("The slow device saved nothing: a step took {} without it, and {} with half of the "
                "batch on it.",
                alone_text, half_text);
  stage.conclude(shares_text);
  stage.explain(
      trf("Sixteen devices as fast as cpu:0, which divide the same {} images of LeNet, would be "
          "{:.0f} % efficient over NVLink and {:.0f} % over 10 Gbit Ethernet; with more images per "
          "step the Scaling page predicts more.",
          kUnequalBatch, at_sixteen.front(), at_sixteen.back()));
}

}  // namespace

Lesson sixteen_lesson() {
  LessonInfo info;
  info.name = "sixteen";
  info.title = LAB_TEXT("Many devices, unequal devices");
  info.track = LessonTrack::SeveralDevices;
  info.devices = 2;
  info.text = {
      LAB_TEXT("Exercises 1 and 2 of the chapter: 16 GPUs, and devices of unequal speed. Sixteen "
               "devices are predicted from one, here for LeNet; the Scaling page does it for "
               "ResNet-18, too."),
      LAB_TEXT("A step ends when its slowest device has finished. Equal shares make a fast device "
               "wait for a slow one; shares in proportion to speed let both finish together."),
      LAB_TEXT("More devices divide what grows with the batch, but not what each of them pays per "
               "step: a fixed time, and the sum of the gradients over the link."),
      LAB_TEXT("A device that saves less than its sum costs is better left out. Here cpu:1 is "
               "slowed down: after each operation it stays busy for a multiple of its time.")};
  info.steps = {
      {LAB_TEXT("Each device alone"),
       {"loss.backward(); optimizer.step()", "loss.backward(); trainer.step(batch)",
        "strategy.run(step, args=(X, y))", "params = step(params, X, y)",
        "Trainer({device}, options).step(loader, i, lr, pass)"}},
      {LAB_TEXT("Shares from none to half"),
       {"X.split([n0, n1])", "np.split(X, [n0])", "tf.split(X, [n0, n1])", "jnp.split(X, [n0])",
        "device-lab train --devices cpu:1,cpu:0 --shares 1,3"}},
      {LAB_TEXT("Shares by measured speed"),
       {"", "", "", "", "device-lab train --devices cpu:1,cpu:0 --shares auto"}},
      {LAB_TEXT("Sixteen devices, predicted over three links"),
       {"torchrun --nproc_per_node 16 train.py", "mpirun -n 16 python train.py",
        "tf.distribute.MultiWorkerMirroredStrategy()", "jax.pmap(step, axis_name='devices')",
        "device-lab scaling --predict 16 --link nvlink"}}};
  info.question = {
      .text = LAB_TEXT("One of two devices is {} times as slow. Which share of the batch should it "
                       "get, in percent?"),
      .unit = "%",
      .low = 1,
      .high = 100,
      .why =
          LAB_TEXT("Both finish together if each share is proportional to its device's speed, as a "
                   "quarter and three quarters for speeds of 1 and 3; a device that saves less "
                   "than it costs gets nothing.")};
  info.vary = LessonVary{LAB_TEXT("Times as slow"), "x", 1, 16, 3, false};
  info.figure = LessonFigure::Lines;
  info.x_label = LAB_TEXT("share of the slow device");
  info.y_label = LAB_TEXT("time per step");
  info.second_x_label = LAB_TEXT("devices");
  info.second_y_label = LAB_TEXT("efficiency");
  StartScaling free;
  free.training.model = kUnequalModel;
  free.training.batch = kUnequalBatch;
  free.predict_devices = kManyDevices;
  info.free = free;
  return {info, run_sixteen_lesson};
}

}  // namespace lab::lessons
