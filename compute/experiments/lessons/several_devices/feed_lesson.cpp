// Lesson "feed": loading and computing take turns, or the slower of both sets the pace.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <iterator>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/data/dataset.h"
#include "compute/experiments/lessons/several_devices/several_device_lessons.h"
#include "compute/machine/cpu_topology.h"
#include "compute/measure/statistics.h"
#include "compute/nn/models.h"
#include "compute/nn/network.h"
#include "compute/nn/sgd.h"
#include "compute/tensor/random.h"
#include "compute/train/batch_loader.h"

namespace lab::lessons {
namespace {

constexpr std::int64_t kFeedBatch = 128;
constexpr std::int64_t kFeedSteps = 20;
constexpr std::int64_t kFeedBlock = 4;  // steps per point of the curves
constexpr std::size_t kFeedRounds = 3;
static_assert(kFeedRounds % 2 == 1, "the median is the pace of one run");
constexpr double kFeedRate = 0.1;

struct LoadedBatch {
  std::vector<float> pixels;
  std::vector<std::uint8_t> labels;
};

// The batches of one epoch, each image turned by a random angle as in an augmentation.
class TurningLoader {
 public:
  // `samples`: rotations that are averaged per image, on average, which sets the time per image.
  TurningLoader(const ImageSet& images, double samples)
      : images_(images),
        samples_(samples),
        order_(images, kFeedBatch, BatchOrder::Shuffled, /*seed=*/1),
        uses_(static_cast<std::size_t>(images.count)) {
    order_.start_epoch(0);
  }

  void load(std::int64_t step, LoadedBatch& batch) {
    const std::int64_t size = order_.image_size();
    batch.pixels.resize(static_cast<std::size_t>(kFeedBatch * size));
    batch.labels.resize(static_cast<std::size_t>(kFeedBatch));
    for (std::int64_t i = 0; i < kFeedBatch; ++i) {
      const auto at = static_cast<std::uint64_t>(step * kFeedBatch + i);
      const std::uint32_t image = (*order_.order())[at];
      turn(images_.pixels.data() + image * size, angles_.uniform(at) - 0.5F,
           samples_until(at + 1) - samples_until(at), batch.pixels.data() + i * size);
      batch.labels[static_cast<std::size_t>(i)] = images_.labels[image];
      ++uses_[image];
    }
  }

  // How often each image was loaded.
  const std::vector<int>& uses() const { return uses_; }

 private:
  int samples_until(std::uint64_t image) const {
    return static_cast<int>(static_cast<double>(image) * samples_);
  }

  void turn(const std::uint8_t* from, float angle, int samples, float* to) const {
    const int side = images_.width;
    const float middle = static_cast<float>(side - 1) / 2;
    std::fill_n(to, side * side, 0.0F);
    for (int s = 0; s < samples; ++s) {
      const float turned = angle * (static_cast<float>(s) + 0.5F) / static_cast<float>(samples) / 2;
      const float cosine = std::cos(turned), sine = std::sin(turned);
      for (int y = 0; y < side; ++y) {
        const float dy = static_cast<float>(y) - middle;
        for (int x = 0; x < side; ++x) {
          const float dx = static_cast<float>(x) - middle;
          const auto u = std::lround(middle + cosine * dx - sine * dy);
          const auto v = std::lround(middle + sine * dx + cosine * dy);
          if (u < 0 || v < 0 || u >= side || v >= side) continue;
          to[y * side + x] += static_cast<float>(from[v * side + u]);
        }
      }
    }
    const float scale = 1 / (255 * static_cast<float>(samples));
    for (int i = 0; i < side * side; ++i) to[i] *= scale;
  }

  const ImageSet& images_;
  const double samples_;
  const RandomStream angles_{1, 1};
  BatchLoader order_;
  std::vector<int> uses_;
};

// What one lane did, in order; times are relative to the beginning of the run.
class FeedLane {
 public:
  explicit FeedLane(double start_s) : start_s_(start_s) {}

  template <typename Work>
  void record(bool waits, Work&& work) {
    const double begin_s = monotonic_s() - start_s_;
    work();
    spans_.push_back({{}, {}, begin_s, monotonic_s() - start_s_, waits});
  }

  const std::vector<LessonSpan>& spans() const { return spans_; }
  // Mean per step of the time spent waiting, or of the rest; the first step has no predecessor.
  double mean_s(bool waits) const {
    double sum = 0;
    std::size_t first = 0;
    for (; first < spans_.size() && spans_[first].stall != waits;) ++first;
    for (std::size_t i = first + 1; i < spans_.size(); ++i) {
      if (spans_[i].stall == waits) sum += spans_[i].end_s - spans_[i].begin_s;
    }
    return sum / (kFeedSteps - 1);
  }
  // The loads or computations, in the order of the steps.
  std::vector<LessonSpan> work() const {
    std::vector<LessonSpan> done;
    std::copy_if(spans_.begin(), spans_.end(), std::back_inserter(done),
                 [](const LessonSpan& span) { return !span.stall; });
    return done;
  }

 private:
  const double start_s_;
  std::vector<LessonSpan> spans_;
};

// Loads the batches of an epoch in order on its own thread, one batch ahead of the trainer.
class LoadAhead {
 public:
  LoadAhead(TurningLoader& loader, std::vector<int> cores, FeedLane& lane)
      : thread_([this, &loader, cores = std::move(cores), &lane](const std::stop_token& stop) {
          set_thread_affinity(cores);
          for (std::int64_t step = 0; step < kFeedSteps; ++step) {
            lane.record(true, [&] { wait_until(stop, [&] { return step - released_ < 2; }); });
            if (stop.stop_requested()) return;
            lane.record(false, [&] { loader.load(step, buffers_[step % 2]); });
            set(loaded_, step + 1);
          }
        }) {}

  // Returns the step's batch once it is loaded; valid until release(step).
  const LoadedBatch& wait_for(std::int64_t step) {
    wait_until({}, [&] { return loaded_ > step; });
    return buffers_[step % 2];
  }
  void release(std::int64_t step) { set(released_, step + 1); }
  // Returns when the thread has ended.
  void join() { thread_.join(); }

 private:
  template <typename Ready>
  void wait_until(const std::stop_token& stop, const Ready& ready) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, ready);
  }
  void set(std::int64_t& counter, std::int64_t value) {
    const std::lock_guard lock(mutex_);
    counter = value;
    changed_.notify_all();
  }

  std::array<LoadedBatch, 2> buffers_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::int64_t loaded_ = 0, released_ = 0;  // batches
  std::jthread thread_;                     // last, because it uses the members above
};

// The network in training.
class FedNetwork {
 public:
  explicit FedNetwork(DeviceContext& device)
      : net_(nn::plan_model("mlp"), device, kFeedBatch, /*seed=*/1), sgd_(net_, {}) {}

  // Makes one step and returns its mean loss.
  double step(const LoadedBatch& batch) {
    std::memcpy(net_.input(), batch.pixels.data(), batch.pixels.size() * sizeof(float));
    std::memcpy(net_.labels(), batch.labels.data(), batch.labels.size());
    net_.forward(kFeedBatch, /*training=*/true, {});
    const nn::BatchResult result = net_.loss(kFeedBatch, static_cast<double>(kFeedBatch));
    net_.backward(kFeedBatch, {});
    sgd_.step(kFeedRate);
    return result.loss_sum / static_cast<double>(kFeedBatch);
  }

 private:
  nn::Network net_;
  nn::Sgd sgd_;
};

enum class FeedWay { Blocking, Overlapped };

// One epoch, fed in one way.
struct FedRun {
  double start_s = monotonic_s();
  FeedLane loader{start_s}, trainer{start_s};
  std::vector<double> losses, done_s;  // per step
  std::vector<int> uses;
  // Whether each batch was loaded before its computation began.
  bool loaded_first() const {
    const std::vector<LessonSpan> loads = loader.work(), steps = trainer.work();
    bool right = loads.size() == steps.size();
    for (std::size_t i = 0; right && i < steps.size(); ++i) {
      right = loads[i].end_s <= steps[i].begin_s;
    }
    return right;
  }
  // Time per step from the first one on, which has no load to hide.
  double pace_s() const { return (done_s.back() - done_s.front()) / (kFeedSteps - 1); }
};

class FeedComparison {
 public:
  FeedComparison(LessonStage& stage, DeviceContext& trains, DeviceContext& loads)
      : stage_(stage),
        trains_(trains),
        loads_(loads),
        data_(make_synthetic_garments(kFeedBatch * kFeedSteps, 1, 0)) {}

  // Measures both constants apart and chooses the work per image so that loading takes `share` of
  // computing.
  void measure_constants(double share) {
    // The shortest times are those that other programs disturbed least.
    constexpr double kTrial = 8;
    const auto [compute, load] = time_both(kTrial, 0.15);
    samples_ = std::clamp(share * compute.min_s / load.min_s * kTrial, 1.0, 10000.0);
    const auto both = time_both(samples_, 0.3);
    compute_s = both.first.median_s;
    load_s = both.second.median_s;
  }

  FedRun run(FeedWay way) {
    TurningLoader loader(data_.train, samples_);
    FedNetwork network(trains_);
    FedRun run;
    const auto made = [&](double loss) {
      run.losses.push_back(loss);
      run.done_s.push_back(monotonic_s() - run.start_s);
      stage_.context().throw_if_cancelled();
    };
    if (way == FeedWay::Blocking) {
      train_blocking(loader, network, run, made);
    } else {
      train_overlapped(loader, network, run, made);
    }
    run.uses = loader.uses();
    return run;
  }

  double compute_s = 0, load_s = 0;  // per batch

 private:
  // Times of a step's computation and of a batch's loading with `samples` rotations per image.
  std::pair<Timing, Timing> time_both(double samples, double budget_s) {
    TurningLoader loader(data_.train, samples);
    FedNetwork network(trains_);
    LoadedBatch computed, loaded;
    loader.load(0, computed);
    std::int64_t step = 0;
    const std::function<void()> bodies[] = {
        [&] { network.step(computed); },
        [&] { loader.load(step++ % kFeedSteps, loaded); },
    };
    const std::vector<Timing> times = stage_.time_together(bodies, budget_s);
    return {times[0], times[1]};
  }

  template <typename Made>
  void train_blocking(TurningLoader& loader, FedNetwork& network, FedRun& run, const Made& made) {
    LoadedBatch batch;
    for (std::int64_t step = 0; step < kFeedSteps; ++step) {
      double loss = 0;
      run.trainer.record(true,
                         [&] { run.loader.record(false, [&] { loader.load(step, batch); }); });
      run.trainer.record(false, [&] { loss = network.step(batch); });
      made(loss);
    }
  }

  template <typename Made>
  void train_overlapped(TurningLoader& loader, FedNetwork& network, FedRun& run, const Made& made) {
    LoadAhead ahead(loader, loads_.threads().cores(), run.loader);
    for (std::int64_t step = 0; step < kFeedSteps; ++step) {
      double loss = 0;
      const LoadedBatch* batch = nullptr;
      run.trainer.record(true, [&] { batch = &ahead.wait_for(step); });
      run.trainer.record(false, [&] { loss = network.step(*batch); });
      ahead.release(step);
      made(loss);
    }
    ahead.join();
  }

  LessonStage& stage_;
  DeviceContext& trains_;
  DeviceContext& loads_;
  const Dataset data_;
  double samples_ = 1;
};

std::vector<double> paces_of(const std::vector<FedRun>& runs) {
  std::vector<double> paces;
  paces.reserve(runs.size());
  for (const FedRun& run : runs) paces.push_back(run.pace_s());
  return paces;
}

// The run of median pace, of an odd number of runs.
const FedRun& middle(const std::vector<FedRun>& runs) {
  const double pace_s = median(paces_of(runs));
  return *std::find_if(runs.begin(), runs.end(),
                       [&](const FedRun& run) { return run.pace_s() == pace_s; });
}

void report_pace(LessonStage& stage, const std::string& series, const std::vector<FedRun>& runs) {
  std::vector<double> paces = paces_of(runs);
  const Timing time = summarise(paces);
  stage.sample({.series = series, .value = time.median_s, .unit = "s", .time = time});
}

// The loss and the images per second of each block of steps, over the time at which it ended.
void report_curves(LessonStage& stage, const std::string& loss, const std::string& speed,
                   const FedRun& run) {
  for (std::size_t end = kFeedBlock; end <= run.losses.size(); end += kFeedBlock) {
    const double end_s = run.done_s[end - 1];
    const double begin_s = end > kFeedBlock ? run.done_s[end - 1 - kFeedBlock] : 0;
    stage.sample({.series = loss, .x = end_s, .x_unit = "s", .value = run.losses[end - 1]});
    stage.sample({.series = speed,
                  .x = end_s,
                  .x_unit = "s",
                  .value = static_cast<double>(kFeedBlock * kFeedBatch) / (end_s - begin_s),
                  .unit = "images/s"});
  }
}

void report_lanes(LessonStage& stage, const std::string& loader, const std::string& trainer,
                  const FedRun& run) {
  for (const LessonSpan& span : run.loader.spans()) {
    const char* what = span.stall ? tr("needs a free buffer") : tr("load");
    stage.span({loader, what, span.begin_s, span.end_s, span.stall});
  }
  for (const LessonSpan& span : run.trainer.spans()) {
    const char* what = span.stall ? tr("needs a batch") : tr("compute");
    stage.span({trainer, what, span.begin_s, span.end_s, span.stall});
  }
}

void predict_pace(LessonStage& stage, const std::string& series, double value,
                  const std::string& formula, const FeedComparison& constants) {
  LessonPrediction prediction;
  prediction.series = series;
  prediction.value = value;
  prediction.unit = "s";
  prediction.formula = formula;
  prediction.constants = {{tr("loading"), constants.load_s, "s"},
                          {tr("computing"), constants.compute_s, "s"}};
  stage.predict(prediction);
}

// The slower lane sets the pace: it works longer than alone, or it waits.
void explain_overlap(LessonStage& stage, const std::string& series, const FeedComparison& alone,
                     const FedRun& run) {
  const bool loading = alone.load_s > alone.compute_s;
  const FeedLane& slower = loading ? run.loader : run.trainer;
  const double alone_s = loading ? alone.load_s : alone.compute_s;
  stage.gap({series,
             "s",
             alone_s,
             run.pace_s(),
             {{tr("shared cores, memory or clock"), slower.mean_s(false) - alone_s},
              {tr("waiting"), slower.mean_s(true)}}});
}

void check_runs(LessonStage& stage, std::span<const std::vector<FedRun>> ways) {
  const std::vector<double>& losses = ways.front().front().losses;
  const auto holds = [&](const auto& statement) {
    return std::all_of(ways.begin(), ways.end(), [&](const std::vector<FedRun>& runs) {
      return std::all_of(runs.begin(), runs.end(), statement);
    });
  };
  stage.check(tr("all ways of loading give the same losses bit for bit"),
              holds([&](const FedRun& run) { return run.losses == losses; }));
  stage.check(tr("every image is used once"), holds([](const FedRun& run) {
                return std::all_of(run.uses.begin(), run.uses.end(), [](int n) { return n == 1; });
              }));
  stage.check(tr("no batch is computed before its loading has ended"),
              holds([](const FedRun& run) { return run.loaded_first(); }));
}

void run_feed_lesson(LessonStage& stage) {
  const auto [trains, loads] = stage.two_cpus();
  const Device used[] = {trains->device(), loads->device()};
  const bool shared = stage.note_shared_cores(used);
  const auto bound = trains->threads().bind_caller();
  FeedComparison feed(stage, *trains, *loads);
  feed.measure_constants(stage.vary() / 100);
  const double sum_s = feed.load_s + feed.compute_s;
  const double longer_s = std::max(feed.load_s, feed.compute_s);
  const std::string blocking = tr("time per step, blocking");
  const std::string overlapped = tr("time per step, overlapped");
  predict_pace(stage, blocking, sum_s, tr("loading + computing"), feed);
  predict_pace(stage, overlapped, longer_s, tr("max(loading, computing)"), feed);

  constexpr std::array kWays = {FeedWay::Blocking, FeedWay::Overlapped};
  std::array<std::vector<FedRun>, kWays.size()> runs;
  for (std::size_t i = 0; i < kWays.size(); ++i) {
    stage.step(i);
    for (std::size_t round = 0; round < kFeedRounds; ++round) {
      stage.context().checkpoint();
      runs[i].push_back(feed.run(kWays[i]));
    }
  }
  report_pace(stage, blocking, runs[0]);
  report_pace(stage, overlapped, runs[1]);
  report_curves(stage, tr("loss, blocking"), tr("speed, blocking"), middle(runs[0]));
  report_curves(stage, tr("loss, overlapped"), tr("speed, overlapped"), middle(runs[1]));
  report_lanes(stage, tr("loader, blocking"), tr("trainer, blocking"), middle(runs[0]));
  report_lanes(stage, tr("loader, overlapped"), tr("trainer, overlapped"), middle(runs[1]));

  const double blocking_s = middle(runs[0]).pace_s(), overlapped_s = middle(runs[1]).pace_s();
  stage.gap({blocking, "s", sum_s, blocking_s, {}});
  explain_overlap(stage, overlapped, feed, middle(runs[1]));
  check_runs(stage, runs);
  // Relative to the blocking way, so that other programs' load affects both.
  const double saved = 1 - overlapped_s / blocking_s;
  const bool added = saved < (1 - longer_s / sum_s) / 2;
  // On cores of their own, the times add up only if other programs use the cores.
  if (!stage.too_busy(blocking, sum_s, blocking_s) && added && !shared) {
    stage.too_busy(overlapped, longer_s, overlapped_s, 1);
  }
  stage.answer({added && shared ? 0.0 : 1.0});
  stage.conclude(
      trf("Loading takes {} per batch and computing {}: a step took {} when they took turns and {} "
          "when the next batch was loaded meanwhile.",
          format_seconds(feed.load_s), format_seconds(feed.compute_s), format_seconds(blocking_s),
          format_seconds(overlapped_s)));
}

}  // namespace

Lesson feed_lesson() {
  LessonInfo info;
  info.name = "feed";
  info.title = LAB_TEXT("Feeding a trainer");
  info.track = LessonTrack::SeveralDevices;
  info.devices = 2;
  info.text = {
      LAB_TEXT("Before a step can compute, its batch must be read, augmented and copied to the "
               "device. If the trainer does this itself, it computes only part of the time."),
      LAB_TEXT(
          "A loader can prepare the next batch while the current one is computed. If it has "
          "cores of its own, a step lasts as long as the slower of both, and the other waits."),
      LAB_TEXT(
          "Here a multilayer perceptron trains on cpu:0, and to load a batch is to turn each of "
          "its images by a random angle. Blocking: the trainer loads the batch, then computes. "
          "Overlapped: a loader on cpu:1 loads the next batch meanwhile. Both ways compute the "
          "same losses."),
      LAB_TEXT(
          "On a CPU, the loss of a step is already in main memory. On a GPU, each reading of it "
          "waits until the queue is empty. The chapter's exercise for MXNet therefore drops "
          "waitall(): the host then runs ahead, and a bound of two steps limits the batches in "
          "the queue.")};
  info.steps = {
      {LAB_TEXT("Load, then compute"),
       {"DataLoader(data, batch_size, num_workers=0)", "gluon.data.DataLoader(data, batch_size)",
        "data.batch(batch_size)", "for X, y in loader: step(params, X, y)",
        "loader.load(step, batch); net.step(batch)"}},
      {LAB_TEXT("Load the next batch meanwhile"),
       {"DataLoader(data, batch_size, num_workers=1, pin_memory=True)",
        "gluon.data.DataLoader(data, batch_size, num_workers=1)",
        "data.batch(batch_size).prefetch(tf.data.AUTOTUNE)",
        "for X, y in prefetch_to_device(loader, 2): step(params, X, y)",
        "staged.prepare(loader, step + 1, slice)"}}};
  info.question = {
      .text = LAB_TEXT("The next batch is loaded while this one is computed. How long is a step?"),
      .choices = {LAB_TEXT("loading + computing"), LAB_TEXT("the longer of both"),
                  LAB_TEXT("the shorter of both")},
      .why = LAB_TEXT("A step ends once both its computing and the loading of the next batch have "
                      "ended. Only if both compete for the same cores do their times add up.")};
  info.vary = LessonVary{LAB_TEXT("Loading, in % of computing"), "%", 10, 400, 80, false};
  info.figure = LessonFigure::Lines;
  info.x_label = LAB_TEXT("time since the first load began");
  info.y_label = LAB_TEXT("loss of a step");
  info.second_x_label = info.x_label;
  info.second_y_label = LAB_TEXT("training speed");
  StartTraining free;
  free.model = "mlp";
  free.profile = true;
  info.free = free;
  return {info, run_feed_lesson};
}

}  // namespace lab::lessons
