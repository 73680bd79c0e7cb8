// Lesson "together": two products on two devices, at once and one after the other. Exercise 4.
#include <fmt/format.h>

#include <algorithm>

#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/experiments/matmul/together.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

constexpr int kRounds = 7;

void record_gantt(LessonStage& stage, const std::string& order,
                  const std::vector<DeviceProducts>& done) {
  double begin_s = done.front().begin_s;
  for (const DeviceProducts& one : done) begin_s = std::min(begin_s, one.begin_s);
  for (const DeviceProducts& one : done) {
    stage.span({fmt::format("{}, {}", to_string(one.device), order), "products",
                one.begin_s - begin_s, one.end_s - begin_s, false});
  }
}

double span_of(const std::vector<DeviceProducts>& done) {
  double begin_s = done.front().begin_s, end_s = done.front().end_s;
  for (const DeviceProducts& one : done) {
    begin_s = std::min(begin_s, one.begin_s);
    end_s = std::max(end_s, one.end_s);
  }
  return end_s - begin_s;
}

double mean_product_s(const std::vector<DeviceProducts>& done) {
  double total = 0;
  for (const DeviceProducts& one : done) total += one.end_s - one.begin_s;
  return total / static_cast<double>(done.size());
}

// True if two devices compute on a core of their own each.
bool own_cores(LessonStage& stage, const std::vector<Device>& pair) {
  std::vector<int> cores;
  for (const Device device : pair) {
    const auto& own = stage.machine().at(device).info().cores;
    cores.insert(cores.end(), own.begin(), own.end());
  }
  std::sort(cores.begin(), cores.end());
  return std::adjacent_find(cores.begin(), cores.end()) == cores.end();
}

void run_together_lesson(LessonStage& stage) {
  const std::vector<Device> pair = {stage.devices()[0], stage.devices()[1]};
  const auto n = static_cast<std::int64_t>(stage.vary());
  LessonPrediction prediction;
  prediction.series = "in sequence / at once";
  prediction.value = 2;
  prediction.unit = "x";
  prediction.formula = "two devices compute twice as fast as one";
  prediction.constants = {{"devices", 2, ""}};
  stage.predict(prediction);

  TogetherProducts work(stage.machine(), pair, n, 0.15, stage.context().stop_token());
  stage.step(0);
  std::vector<double> ratios, at_once_s, in_sequence_s;
  std::vector<DeviceProducts> at_once, in_sequence;
  for (int round = 0; round < kRounds; ++round) {
    stage.context().checkpoint();
    in_sequence = work.run_in_sequence();
    at_once = work.run_at_once();
    in_sequence_s.push_back(span_of(in_sequence));
    at_once_s.push_back(span_of(at_once));
    ratios.push_back(in_sequence_s.back() / at_once_s.back());
  }
  record_gantt(stage, "in sequence", in_sequence);
  stage.step(1);
  record_gantt(stage, "at once", at_once);
  std::sort(ratios.begin(), ratios.end());
  Timing spread;
  spread.n = kRounds;
  spread.median_s = ratios[kRounds / 2];
  spread.p10_s = spread.min_s = ratios.front();
  spread.p90_s = spread.max_s = ratios.back();
  const double ratio = spread.median_s;
  stage.sample({.series = prediction.series, .value = ratio, .unit = "x", .time = spread});
  stage.count("products in sequence", in_sequence_s.back(), "s");
  stage.count("products at once", at_once_s.back(), "s");
  stage.answer({ratio});
  // What each device lost by the other's work; the rest is waiting for the slower one.
  const double slower = mean_product_s(in_sequence) / mean_product_s(at_once);
  const double shared = std::min(0.0, 2 * slower - 2);
  stage.gap({prediction.series, "x", 2, ratio, {{"shared memory or clock", shared}}});
  stage.check("both orders compute the same products", work.consistent());
  const bool separate = own_cores(stage, pair);
  if (separate && ratio < 1.8) {
    stage.context().emit(LogLine{
        Severity::Warning,
        fmt::format("lesson together: {:.2f}x is below 1.8x; other programs use the cores, or the "
                    "devices share a clock or memory",
                    ratio)});
  }
  stage.conclude(fmt::format(
      "Two products at once on {} and {} were {:.2f} times as fast as one "
      "after the other{}.",
      to_string(pair[0]), to_string(pair[1]), ratio, separate ? "" : "; the devices share cores"));
}

}  // namespace

Lesson together_lesson() {
  LessonInfo info;
  info.name = "together";
  info.title = "Two products at once";
  info.devices = 2;
  info.text = {
      "Two devices can work at the same time if nothing forces one to wait for the other: each has "
      "its own queue or its own threads.",
      "Ideally two products take as long as one. They take longer if both devices draw on the same "
      "memory, the same clock budget or the same cores.",
      "Exercise 4 of the chapter: two products on two devices at once, and in sequence."};
  info.steps = {
      {"One after the other",
       {"A0 @ B0; torch.cuda.synchronize(); A1 @ B1", "A0.dot(B0).wait_to_read(); A1.dot(B1)",
        "A0 @ B0; A1 @ B1", "(A0 @ B0).block_until_ready(); A1 @ B1", "work.run_in_sequence()"}},
      {"Both at once",
       {"A0 @ B0; A1 @ B1", "A0.dot(B0); A1.dot(B1); npx.waitall()", "A0 @ B0; A1 @ B1",
        "A0 @ B0; A1 @ B1", "work.run_at_once()"}}};
  info.question = {.text = "How many times as fast are two products at once on two devices?",
                   .unit = "x",
                   .low = 0.5,
                   .high = 3};
  info.vary = LessonVary{"Size N", "", 64, 4096, 512, true};
  StartMatmul free;
  free.kernels = {"best"};
  free.sizes = {512};
  info.free = free;
  return {info, run_together_lesson};
}

}  // namespace lab::lessons
