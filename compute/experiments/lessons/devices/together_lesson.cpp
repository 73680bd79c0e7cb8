// Lesson "together": two products on two devices, at once and one after the other. Exercise 4.
#include <fmt/format.h>

#include <algorithm>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/experiments/matmul/together.h"
#include "compute/measure/statistics.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

constexpr int kTogetherRounds = 7;  // odd: the one with the median ratio is shown

struct TogetherRound {
  std::vector<DeviceProducts> in_sequence, at_once;
  double ratio() const { return span_s(in_sequence) / span_s(at_once); }
};

// `products` is their number in each batch.
void record_gantt(LessonStage& stage, const std::string& order, std::int64_t products,
                  const std::vector<DeviceProducts>& done) {
  double begin_s = done.front().begin_s;
  for (const DeviceProducts& one : done) begin_s = std::min(begin_s, one.begin_s);
  for (const DeviceProducts& one : done) {
    stage.span({fmt::format("{}, {}", to_string(one.device), order), trf("{} products", products),
                one.begin_s - begin_s, one.end_s - begin_s, false});
  }
}

double mean_product_s(const std::vector<DeviceProducts>& done) {
  double total = 0;
  for (const DeviceProducts& one : done) total += one.end_s - one.begin_s;
  return total / static_cast<double>(done.size());
}

// A CPU device and a GPU: the ratio says little about the faster of them.
std::string unlike_devices_text(const std::vector<DeviceProducts>& at_once) {
  const auto seconds = [](const DeviceProducts& one) { return one.end_s - one.begin_s; };
  const auto [fast, slow] = std::ranges::minmax_element(at_once, {}, seconds);
  return trf(
      "{} took {} for its products and {} took {}: the shorter time hides behind the longer "
      "one, so that the ratio says nothing about the faster device.",
      to_string(fast->device), format_seconds(seconds(*fast)), to_string(slow->device),
      format_seconds(seconds(*slow)));
}

void run_together_lesson(LessonStage& stage) {
  const std::vector<Device> pair = {stage.devices()[0], stage.devices()[1]};
  const auto n = static_cast<std::int64_t>(stage.vary());
  LessonPrediction prediction;
  prediction.series = tr("in sequence / at once");
  prediction.value = 2;
  prediction.unit = "x";
  prediction.formula = tr("two devices compute twice as fast as one");
  prediction.constants = {{tr("devices"), 2, ""}};
  stage.predict(prediction);

  TogetherProducts work(stage.machine(), pair, n, 0.15, stage.context().stop_token());
  stage.step(0);
  std::vector<TogetherRound> rounds;
  std::vector<double> ratios;
  for (int i = 0; i < kTogetherRounds; ++i) {
    stage.context().checkpoint();
    TogetherRound round;
    round.in_sequence = work.run_in_sequence();
    round.at_once = work.run_at_once();
    ratios.push_back(round.ratio());
    rounds.push_back(std::move(round));
  }
  std::sort(rounds.begin(), rounds.end(),
            [](const TogetherRound& a, const TogetherRound& b) { return a.ratio() < b.ratio(); });
  const TogetherRound& shown = rounds[kTogetherRounds / 2];
  record_gantt(stage, tr("in sequence"), work.products_per_batch(), shown.in_sequence);
  stage.step(1);
  record_gantt(stage, tr("at once"), work.products_per_batch(), shown.at_once);
  const double ratio = shown.ratio();
  stage.sample(
      {.series = prediction.series, .value = ratio, .unit = "x", .time = summarise(ratios)});
  const std::int64_t products = 2 * work.products_per_batch();
  stage.count(trf("{} products in sequence", products), span_s(shown.in_sequence), "s");
  stage.count(trf("{} products at once", products), span_s(shown.at_once), "s");
  stage.answer({ratio});
  // What each device lost by the other's work, and then by waiting for the slower one.
  const double slower = mean_product_s(shown.in_sequence) / mean_product_s(shown.at_once);
  const double shared = std::min(0.0, 2 * slower - 2);
  const double waiting = std::min(0.0, ratio - 2 * slower);
  const std::string unequal = unequal_cores(stage.machine(), pair);
  const std::string lost_by = unequal.empty() ? tr("shared cores, memory or clock")
                                              : tr("slower cores, shared memory or clock");
  stage.gap({prediction.series, "x", 2, ratio, {{lost_by, shared}, {tr("waiting"), waiting}}});
  stage.check(tr("both orders compute the same products"), work.consistent());
  const bool separate = !stage.note_shared_cores(pair);
  if (!unequal.empty()) stage.observe(tr("devices are not equally fast"), unequal);
  const bool ideal = separate && unequal.empty();  // nothing of the lab's keeps the ratio below 2
  if (ideal) {
    stage.too_busy(tr("products at once"), span_s(shown.in_sequence) / 2, span_s(shown.at_once));
  }
  if (ideal && ratio < 1.8) {
    stage.warn(
        trf("{:.2f}x is below 1.8x: other programs use the cores, or the devices share a "
            "clock or memory.",
            ratio));
  }
  const std::string first = to_string(pair[0]), second = to_string(pair[1]);
  stage.conclude(separate
                     ? trf("Two products at once on {} and {} were {:.2f} times as fast as one "
                           "after the other, both on {}.",
                           first, second, ratio, first)
                     : trf("Two products at once on {} and {}, which share cores, were {:.2f} "
                           "times as fast as one after the other, both on {}.",
                           first, second, ratio, first));
  if (pair[0].kind == DeviceKind::Cpu && pair[1].kind != DeviceKind::Cpu) {
    stage.explain(unlike_devices_text(shown.at_once));
  }
}

}  // namespace

Lesson together_lesson() {
  LessonInfo info;
  info.name = "together";
  info.title = LAB_TEXT("Two products at once");
  info.chooses_devices = true;
  info.devices = 2;
  info.alike_devices = true;
  info.text = {
      LAB_TEXT("Two devices can work at the same time if nothing forces one to wait for the other: "
               "each has "
               "its own queue or its own threads."),
      LAB_TEXT("Ideally two products take as long as one. They take longer if both devices draw on "
               "the same "
               "memory, the same clock budget or the same cores."),
      LAB_TEXT("Exercise 4 of the chapter: two products on two devices at once, and in sequence.")};
  info.steps = {
      {LAB_TEXT("One after the other, both on the first device"),
       {"A0 @ B0; A0 @ B0; torch.cuda.synchronize(0)", "A0.dot(B0); A0.dot(B0); npx.waitall()",
        "A0 @ B0; (A0 @ B0).numpy()", "jax.block_until_ready((A0 @ B0, A0 @ B0))",
        "work.run_in_sequence()"}},
      {LAB_TEXT("Both at once"),
       {"A0 @ B0; A1 @ B1; torch.cuda.synchronize(0); torch.cuda.synchronize(1)",
        "A0.dot(B0); A1.dot(B1); npx.waitall()", "C0 = A0 @ B0; (A1 @ B1).numpy(); C0.numpy()",
        "jax.block_until_ready((A0 @ B0, A1 @ B1))", "work.run_at_once()"}}};
  info.question = {
      .text = LAB_TEXT("How many times as fast are two products at once on two devices?"),
      .unit = "x",
      .low = 0.5,
      .high = 3,
      .why =
          LAB_TEXT("Two equal devices that share nothing take as long for two products as one of "
                   "them for one: the ratio is 2. Shared cores, memory or clock lower it, and so "
                   "does a second device that is slower.")};
  info.vary = LessonVary{LAB_TEXT("Size N"), "", 64, 4096, 512, true};
  StartMatmul free;
  free.together = true;
  free.sizes = {512};
  info.free = free;
  info.set_free = [](JobCommand& command, double n) {
    std::get<StartMatmul>(command).sizes = {static_cast<std::int64_t>(n)};
  };
  return {info, run_together_lesson};
}

}  // namespace lab::lessons
