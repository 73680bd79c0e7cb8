#include "compute/experiments/scaling/scaling_runs.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "compute/core/language.h"
#include "compute/machine/machine.h"
#include "compute/measure/measure.h"
#include "compute/measure/statistics.h"

namespace lab {
namespace {

constexpr double kStableSpread = 0.05;
constexpr std::int64_t kRecordedRounds = 5;  // enough for a step near the median

// Number of steps that contains `wanted` full batches: each epoch may end with a partial one.
std::int64_t steps_with(std::int64_t wanted, std::int64_t images, std::int64_t batch) {
  const std::int64_t whole = images / batch;
  const bool short_one = images % batch != 0;
  return wanted + (short_one ? (wanted - 1) / whole : 0);
}

std::string round_text(std::int64_t round, std::int64_t rounds, int devices) {
  return devices == 1 ? trf("round {} of {}, 1 device", round, rounds)
                      : trf("round {} of {}, {} devices", round, rounds, devices);
}

std::string accuracy_text(int devices) {
  return devices == 1 ? tr("accuracy with 1 device") : trf("accuracy with {} devices", devices);
}

}  // namespace

void StepTimes::add(const StepDone& step) {
  if (!(step.images_per_s > 0)) return;
  const double seconds = static_cast<double>(step.images) / step.images_per_s;
  seconds_.push_back(seconds);
  splits_.push_back(step.devices.empty() ? StepSplit{.compute_s = seconds}
                                         : split_of(step.devices));
}

Timing StepTimes::timing() const {
  std::vector<double> sorted = seconds_;
  Timing timing = summarise(sorted);
  timing.unstable = median_spread(sorted) > kStableSpread || rounds_differ();
  return timing;
}

bool StepTimes::rounds_differ() const {
  constexpr std::size_t kLeastSteps = 5;  // whose median is more than that of a few slow steps
  std::vector<double> medians;
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    const std::size_t end = r + 1 < rounds_.size() ? rounds_[r + 1] : seconds_.size();
    if (end - rounds_[r] < kLeastSteps) continue;
    std::vector<double> steps(seconds_.begin() + static_cast<std::ptrdiff_t>(rounds_[r]),
                              seconds_.begin() + static_cast<std::ptrdiff_t>(end));
    medians.push_back(summarise(steps).median_s);
  }
  if (medians.size() < 2) return false;
  const Timing rounds = summarise(medians);
  return rounds.p90_s - rounds.p10_s > 2 * kStableSpread * rounds.median_s;
}

ScalingRuns::ScalingRuns(const StartScaling& request, const Dataset& data,
                         std::vector<std::int64_t> small_batches, RunContext& ctx)
    : request_(request), data_(data), small_batches_(std::move(small_batches)), ctx_(ctx) {
  for (std::int64_t round = 1; round <= request_.rounds; ++round) {
    for (const Key& k : all_keys()) total_work_ += work(k, steps_of(k, round));
  }
  if (!request_.accuracy) return;
  for (const int n : request_.counts) {
    total_work_ += work(key(ScalingMode::Strong, n), request_.accuracy_steps);
  }
}

void ScalingRuns::run() {
  const std::vector<Key> keys = all_keys();
  for (std::int64_t round = 1; round <= request_.rounds; ++round) {
    for (const Key& k : keys) {
      const auto part =
          next_part(work(k, steps_of(k, round)), round_text(round, request_.rounds, k.devices));
      time_steps(k, round);
      emit_points(k);
    }
  }
  for (const Key& k : keys) emit_points(k);  // relative to the final time of one device
  if (!request_.accuracy) return;
  for (const int n : request_.counts) {
    const auto part =
        next_part(work(key(ScalingMode::Strong, n), request_.accuracy_steps), accuracy_text(n));
    measure_accuracy(n);
    ctx_.emit(*point(ScalingMode::Strong, n));
  }
}

ScalingRuns::Key ScalingRuns::key(ScalingMode mode, int devices) const {
  const std::int64_t batch = request_.training.batch;
  return {devices, mode == ScalingMode::Strong ? batch : batch * devices};
}

// Each kind of run once, in the order of a round.
std::vector<ScalingRuns::Key> ScalingRuns::all_keys() const {
  std::vector<Key> keys;
  const auto add = [&keys](const Key& k) {
    if (std::find(keys.begin(), keys.end(), k) == keys.end()) keys.push_back(k);
  };
  for (const std::int64_t batch : small_batches_) add({1, batch});
  for (const int n : request_.counts) {
    for (const ScalingMode mode : request_.modes) add(key(mode, n));
  }
  return keys;
}

// A run without a point only gives the fixed cost of a step, for the prediction.
bool ScalingRuns::has_point(const Key& k) const {
  return std::ranges::any_of(request_.modes,
                             [&](ScalingMode mode) { return key(mode, k.devices) == k; });
}

bool ScalingRuns::records(const Key& key, std::int64_t round) const {
  return round <= kRecordedRounds && has_point(key);
}

std::int64_t ScalingRuns::steps_of(const Key& key, std::int64_t round) const {
  return request_.warmup + request_.steps + (records(key, round) ? 1 : 0);
}

std::span<const Device> ScalingRuns::first_devices(int count) const {
  return std::span(request_.training.devices).first(static_cast<std::size_t>(count));
}

// Relative cost of a run: steps times images per device, scaled by the core load.
double ScalingRuns::work(const Key& key, std::int64_t steps) const {
  const double load = core_load(ctx_.machine(), first_devices(key.devices));
  return static_cast<double>(steps) * static_cast<double>(key.batch) * load / key.devices;
}

RunContext::Part ScalingRuns::next_part(double work, const std::string& what) {
  const double begin = done_work_ / total_work_;
  done_work_ += work;
  return {ctx_, begin, done_work_ / total_work_, what};
}

StartTraining ScalingRuns::part_of_request(const Key& key) const {
  StartTraining training = request_.training;
  const auto n = static_cast<std::size_t>(key.devices);
  training.devices.resize(n);
  training.batch = key.batch;
  training.steps_ahead = 0;  // all devices are timed alike, by the host's clock
  if (training.shares.size() > n) training.shares.resize(n);
  if (n == 1) {
    training.share_policy = SharePolicy::Equal;
    training.shares.clear();
  }
  return training;
}

void ScalingRuns::train(const StartTraining& training, const TrainingSink& sink) {
  const std::int64_t all_but_one = *training.steps - 1;
  run_training(
      training, ctx_, sink, [this]() -> const Dataset& { return data_; }, all_but_one);
}

void ScalingRuns::time_steps(const Key& key, std::int64_t round) {
  StartTraining training = part_of_request(key);
  training.evaluate = false;
  training.timeline = records(key, round);
  training.steps = steps_with(steps_of(key, round), data_.train.count, training.batch);
  const std::int64_t timed = request_.warmup + request_.steps;
  StepTimes& times = times_[key];
  times.begin_round();
  std::int64_t whole_steps = 0;
  std::optional<StepTimeline> recorded;
  train(training, [&](const Payload& payload) {
    if (const auto* timeline = std::get_if<StepTimeline>(&payload)) recorded = *timeline;
    const auto* step = std::get_if<StepDone>(&payload);
    if (step == nullptr || step->images != key.batch) return;
    ++whole_steps;
    if (whole_steps > request_.warmup && whole_steps <= timed) times.add(*step);
  });
  if (recorded) keep_recorded(key, std::move(*recorded));
}

void ScalingRuns::keep_recorded(const Key& key, StepTimeline step) {
  const StepTimes& times = times_.at(key);
  const double median_s = times.size() > 0 ? times.timing().median_s : step.seconds;
  const auto [kept, first] = recorded_s_.emplace(key, step.seconds);
  const auto distance = [median_s](double seconds) { return std::abs(seconds - median_s); };
  if (!first && distance(kept->second) <= distance(step.seconds)) return;
  kept->second = step.seconds;
  ctx_.emit(std::move(step));
}

void ScalingRuns::measure_accuracy(int devices) {
  StartTraining training = part_of_request(key(ScalingMode::Strong, devices));
  training.evaluate = true;
  training.timeline = false;
  training.steps = request_.accuracy_steps;
  train(training, [&](const Payload& payload) {
    const auto* done = std::get_if<TrainingDone>(&payload);
    if (done != nullptr && done->test_acc) accuracies_[devices] = *done->test_acc;
  });
}

void ScalingRuns::emit_points(const Key& changed) {
  for (const ScalingMode mode : request_.modes) {
    if (key(mode, changed.devices) != changed) continue;
    if (const auto p = point(mode, changed.devices)) ctx_.emit(*p);
  }
}

std::vector<ScalingPoint> ScalingRuns::points() const {
  std::vector<ScalingPoint> all;
  for (const ScalingMode mode : request_.modes) {
    for (const int n : request_.counts) {
      if (const auto p = point(mode, n)) all.push_back(*p);
    }
  }
  return all;
}

std::optional<ScalingPoint> ScalingRuns::point(ScalingMode mode, int devices) const {
  const auto found = times_.find(key(mode, devices));
  const auto one = times_.find(key(mode, 1));
  if (found == times_.end() || found->second.size() == 0 || one == times_.end()) return {};
  ScalingPoint p;
  p.mode = mode;
  p.devices = devices;
  p.batch = found->first.batch;
  p.step = found->second.timing();
  p.step.warmup = request_.warmup * request_.rounds;
  p.images_per_s = static_cast<double>(p.batch) / p.step.median_s;
  const double one_images_per_s =
      static_cast<double>(one->first.batch) / one->second.timing().median_s;
  p.speedup = p.images_per_s / one_images_per_s;
  p.efficiency = p.speedup / devices;
  p.split = found->second.split();
  p.hidden_share = hidden_share(p.split);
  const auto accuracy = accuracies_.find(devices);
  if (mode == ScalingMode::Strong && accuracy != accuracies_.end()) {
    p.test_acc = accuracy->second;
    p.accuracy_steps = request_.accuracy_steps;
  }
  p.shares_cores = core_load(ctx_.machine(), first_devices(devices)) > 1;
  const auto& cores = ctx_.machine().at(request_.training.devices.front()).info().cores;
  p.conditions = current_conditions(cores.empty() ? 0 : cores.front());
  return p;
}

std::vector<ComputePoint> ScalingRuns::one_device() const {
  std::vector<ComputePoint> points;
  for (const auto& [k, times] : times_) {
    if (k.devices != 1 || times.size() == 0) continue;
    points.push_back({static_cast<double>(k.batch), times.timing().median_s});
  }
  return points;
}

}  // namespace lab
