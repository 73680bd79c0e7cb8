// Lesson "log": a queued operation returns early, and reading its result waits. Exercise 3.
#include <fmt/format.h>

#include <algorithm>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/experiments/matmul/tensor_matmul.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

constexpr int kProducts = 1000;
constexpr std::int64_t kSide = 100;
constexpr int kLoopRounds = 5;  // odd: the one with the median ratio is shown

struct LoopTimes {
  double queued_s = 0;    // when the last product was submitted
  double finished_s = 0;  // when the last value was available
};

// What a product leaves on its device: its norm in a CPU device's memory; on a GPU, where a norm
// cannot be kept without reading it, the sum of the products.
class KeptOnDevice {
 public:
  void add_product(const Tensor& c) {
    if (c.device().kind == DeviceKind::Cpu) {
      norms_.push_back(norm(c));
    } else {
      sum_ = sum_.defined() ? add(sum_, c) : c;
    }
  }

 private:
  std::vector<double> norms_;
  Tensor sum_;
};

// One round of the comparison.
struct BothLoops {
  LoopTimes keep, log;
  double ratio() const { return log.finished_s / keep.finished_s; }
};

// Logs the norm of each product on the host, or keeps it on the device; then reads the last norm.
LoopTimes run_products(LessonStage& stage, const Tensor& a, const Tensor& b, bool log_each,
                       double* last_norm) {
  const double begin_s = monotonic_s();
  LoopTimes times;
  Tensor c;
  KeptOnDevice kept;
  std::string log;
  for (int i = 0; i < kProducts; ++i) {
    c = matmul(a, b);
    if (log_each) {
      log += fmt::format("{}\n", norm(c));
    } else {
      kept.add_product(c);
    }
    if (i % 100 == 0) stage.context().throw_if_cancelled();
  }
  times.queued_s = monotonic_s() - begin_s;
  *last_norm = norm(c);
  times.finished_s = monotonic_s() - begin_s;
  return times;
}

// Records the first products of a loop as work on the host's and the device's lanes.
void record_lanes(LessonStage& stage, const Tensor& a, const Tensor& b, bool log_each) {
  constexpr int kShown = 12;
  const std::string host = log_each ? tr("host, logging each") : tr("host, keeping");
  const std::string device = log_each ? trf("{}, logging each", to_string(a.device()))
                                      : trf("{}, keeping", to_string(a.device()));
  const bool queues = is_gpu(a.device());
  const double begin_s = monotonic_s();
  Tensor c;
  KeptOnDevice kept;
  for (int i = 0; i < kShown; ++i) {
    const double submit_s = monotonic_s() - begin_s;
    c = matmul(a, b);
    const double submitted_s = monotonic_s() - begin_s;
    stage.span({host, tr("submit"), submit_s, submitted_s, false});
    if (!queues) stage.span({device, tr("product"), submit_s, submitted_s, false});
    if (!log_each) {
      kept.add_product(c);
      stage.span({queues ? host : device, tr("keep"), submitted_s, monotonic_s() - begin_s, false});
      continue;
    }
    norm(c);
    const double read_s = monotonic_s() - begin_s;
    stage.span({host, tr("read the norm"), submitted_s, read_s, queues});
    stage.span({device, queues ? tr("product and norm") : tr("norm"),
                queues ? submit_s : submitted_s, read_s, false});
  }
  norm(c);
  if (queues && !log_each) stage.span({device, tr("products"), 0, monotonic_s() - begin_s, false});
}

void report_loop(LessonStage& stage, const std::string& name, const LoopTimes& times) {
  stage.count(trf("{}: last product submitted", name), times.queued_s, "s");
  stage.count(trf("{}: last value available", name), times.finished_s, "s");
}

struct LoopConstants {
  double product_s = 0, keeping_s = 0, reading_s = 0;
  double log_s() const { return product_s + reading_s; }
  double keep_s() const { return product_s + keeping_s; }
};

LoopConstants measure_loop_constants(LessonStage& stage, const Tensor& a, const Tensor& b) {
  constexpr int kAtOnce = 50;
  Tensor product = matmul(a, b);
  const Timing products = stage.time(
      [&] {
        for (int i = 0; i < kAtOnce; ++i) product = matmul(a, b);
        norm(product);
      },
      0.2);
  const Timing keeping = stage.time(
      [&] {
        KeptOnDevice kept;
        for (int i = 0; i < kAtOnce; ++i) kept.add_product(product);
        norm(product);
      },
      0.2);
  const double read_s = stage.time([&] { norm(product); }, 0.2).median_s;
  return {std::max(0.0, products.median_s - read_s) / kAtOnce,
          std::max(0.0, keeping.median_s - read_s) / kAtOnce, read_s};
}

void conclude_log(LessonStage& stage, const BothLoops& shown, bool gpu) {
  constexpr double kNearlyEqual = 1.25;
  const double ratio = shown.ratio();
  std::string why;
  if (gpu) {
    const std::string queued = format_seconds(shown.keep.queued_s);
    const std::string finished = format_seconds(shown.keep.finished_s);
    why = shown.keep.finished_s > kNearlyEqual * shown.keep.queued_s
              ? trf("The last product was queued after {}, but its value was available only after "
                    "{}.",
                    queued, finished)
              : trf("Queueing took nearly as long as computing here: {} of {}.", queued, finished);
  } else if (ratio < kNearlyEqual && ratio > 1 / kNearlyEqual) {
    why =
        tr("On a CPU that is nearly a tie: each product is finished when it returns, so there is "
           "no queue to wait for.");
  } else {
    why =
        tr("On a CPU each product is finished when it returns, so there is no queue to wait for, "
           "and a tie was expected.");
  }
  stage.conclude(trf("Logging every norm took {:.2f} times as long as keeping them: {} against {}.",
                     ratio, format_seconds(shown.log.finished_s),
                     format_seconds(shown.keep.finished_s)));
  stage.explain(why);
}

void run_log_lesson(LessonStage& stage) {
  DeviceContext& device = stage.at(0);
  const Tensor a = rand(device, {kSide, kSide}, 1);
  const Tensor b = rand(device, {kSide, kSide}, 2);
  const double once = norm(matmul(a, b));
  const LoopConstants constants = measure_loop_constants(stage, a, b);
  LessonPrediction prediction;
  prediction.series = tr("logging each / keeping");
  prediction.value = constants.log_s() / constants.keep_s();
  prediction.unit = "x";
  prediction.formula = tr("(product + reading its norm) / (product + keeping it)");
  prediction.constants = {{tr("product"), constants.product_s, "s"},
                          {tr("reading"), constants.reading_s, "s"},
                          {tr("keeping"), constants.keeping_s, "s"}};
  stage.predict(prediction);

  stage.step(0);
  double logged = 0, kept = 0;
  std::vector<BothLoops> rounds;
  for (int i = 0; i < kLoopRounds; ++i) {
    const LoopTimes keep = run_products(stage, a, b, false, &kept);
    rounds.push_back({keep, run_products(stage, a, b, true, &logged)});
  }
  std::sort(rounds.begin(), rounds.end(),
            [](const BothLoops& x, const BothLoops& y) { return x.ratio() < y.ratio(); });
  const BothLoops& shown = rounds[kLoopRounds / 2];
  report_loop(stage, tr("logging each norm"), shown.log);
  stage.step(1);
  report_loop(stage, tr("keeping them on the device"), shown.keep);
  record_lanes(stage, a, b, true);
  record_lanes(stage, a, b, false);
  Timing spread;
  spread.n = kLoopRounds;
  spread.median_s = shown.ratio();
  spread.min_s = spread.p10_s = rounds.front().ratio();
  spread.max_s = spread.p90_s = rounds.back().ratio();
  stage.sample({.series = prediction.series, .value = shown.ratio(), .unit = "x", .time = spread});
  stage.answer({shown.ratio()});
  stage.check(tr("both loops compute the same norm"), logged == once && kept == once);
  if (!stage.too_busy(tr("keeping them on the device"), kProducts * constants.keep_s(),
                      shown.keep.finished_s)) {
    stage.too_busy(tr("logging each norm"), kProducts * constants.log_s(), shown.log.finished_s);
  }
  stage.gap({prediction.series, "x", prediction.value, shown.ratio(), {}});
  conclude_log(stage, shown, is_gpu(device.device()));
}

}  // namespace

Lesson log_lesson() {
  LessonInfo info;
  info.name = "log";
  info.title = LAB_TEXT("A clock that lies, a log that stalls");
  info.chooses_devices = true;
  info.text = {
      LAB_TEXT("A GPU works through a queue: a product returns as soon as it is queued, and a "
               "clock stopped "
               "then measures only the queueing."),
      LAB_TEXT("Reading a value waits until the queue is empty. A loop that logs a number in every "
               "round "
               "therefore makes host and device wait for each other."),
      LAB_TEXT(
          "Exercise 3 of the chapter: 1000 products of 100 x 100 matrices, with the norm read each "
          "time, or kept on the device and read once. On a GPU the lab keeps the sum of the "
          "products instead of their norms.")};
  info.steps = {{LAB_TEXT("Log the norm of each product"),
                 {"for _ in range(1000): log.append(torch.norm(A @ B).item())",
                  "for _ in range(1000): log.append(np.linalg.norm(A.dot(B)).item())",
                  "for _ in range(1000): log.append(tf.norm(A @ B).numpy())",
                  "for _ in range(1000): log.append(float(jnp.linalg.norm(A @ B)))",
                  "for (int i = 0; i < 1000; ++i) log(norm(matmul(A, B)))"}},
                {LAB_TEXT("Keep them on the device"),
                 {"for _ in range(1000): kept.append(torch.norm(A @ B))",
                  "for _ in range(1000): kept.append(np.linalg.norm(A.dot(B)))",
                  "for _ in range(1000): kept.append(tf.norm(A @ B))",
                  "for _ in range(1000): kept.append(jnp.linalg.norm(A @ B))",
                  "for (int i = 0; i < 1000; ++i) kept.add_product(matmul(A, B))"}}};
  info.question = {
      .text = LAB_TEXT("How many times as long does the loop take that logs every norm?"),
      .unit = "x",
      .low = 1,
      .high = 20,
      .why =
          LAB_TEXT("On a device with a queue, logging waits for each value and keeping does not. "
                   "Without one, as on a CPU, both read the same values at the same cost.")};
  StartMatmul free;
  free.kernels = {"best"};
  free.sizes = {100};
  info.free = free;
  return {info, run_log_lesson};
}

}  // namespace lab::lessons
