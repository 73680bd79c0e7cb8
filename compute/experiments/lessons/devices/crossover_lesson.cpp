// Lesson "crossover": the larger device is slower for small work. Exercise 1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/experiments/matmul/tensor_matmul.h"
#include "compute/kernels/gemm/gemm.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

constexpr std::int64_t kSmallestSize = 8, kLargestSize = 4096;  // sizes tried; the latter by choice

// One size: products on the small device, on the large one, and there with moved operands.
struct SizeTimes {
  std::int64_t n = 0;
  Timing small, large, moved;
};

// A pair of devices of unequal speed.
class UnequalPair {
 public:
  virtual ~UnequalPair() = default;
  virtual std::string small_name() const = 0;
  virtual std::string large_name() const = 0;
  virtual SizeTimes measure(LessonStage& stage, std::int64_t n) = 0;
  // Time of a call of the large device without work.
  virtual double overhead_s(LessonStage& stage) = 0;
};

// One core against all cores of a CPU device; moving operands copies them to the other memory area,
// as to a device with a memory of its own.
class CoresPair final : public UnequalPair {
 public:
  explicit CoresPair(DeviceContext& device)
      : device_(device), one_({device.threads().cores().front()}) {}

  std::string small_name() const override { return tr("one core"); }
  std::string large_name() const override { return trf("{} cores", device_.threads().size()); }

  double overhead_s(LessonStage& stage) override {
    ThreadPool& pool = device_.threads();
    const auto bound = pool.bind_caller();
    return stage.time([&] { pool.run([](int) {}); }).median_s;
  }

  SizeTimes measure(LessonStage& stage, std::int64_t n) override {
    const Tensor a = rand(device_, {n, n}, 1);
    const Tensor b = rand(device_, {n, n}, 2);
    Tensor c(device_, {n, n}, DType::F32, "C"), there_a(device_, {n, n}, DType::F32, "A"),
        there_b(device_, {n, n}, DType::F32, "B"), back(device_, {n, n}, DType::F32, "C");
    const auto product = [&](const Tensor& x, const Tensor& y, ThreadPool& pool) {
      GemmArgs args;
      args.m = args.n = args.k = args.lda = args.ldb = args.ldc = n;
      args.a = x.values<float>().data();
      args.b = y.values<float>().data();
      args.c = c.values<float>().data();
      gemm(args, pool);
    };
    const auto bound = device_.threads().bind_caller();
    const std::function<void()> bodies[] = {
        [&] { product(a, b, one_); },
        [&] { product(a, b, device_.threads()); },
        [&] {
          copy_range(a, there_a, 0, a.size());
          copy_range(b, there_b, 0, b.size());
          product(there_a, there_b, device_.threads());
          copy_range(c, back, 0, c.size());
        },
    };
    const std::vector<Timing> times = stage.time_together(bodies, 0.15);
    return {n, times[0], times[1], times[2]};
  }

 private:
  DeviceContext& device_;
  ThreadPool one_;
};

// The CPU against a GPU.
class GpuPair final : public UnequalPair {
 public:
  GpuPair(DeviceContext& host, DeviceContext& gpu) : host_(host), gpu_(gpu) {}

  std::string small_name() const override { return to_string(host_.device()); }
  std::string large_name() const override { return to_string(gpu_.device()); }

  double overhead_s(LessonStage& stage) override { return measure(stage, 1).large.median_s; }

  SizeTimes measure(LessonStage& stage, std::int64_t n) override {
    const Tensor a = rand(host_, {n, n}, 1), b = rand(host_, {n, n}, 2);
    const Tensor gpu_a = a.to(gpu_), gpu_b = b.to(gpu_);
    const std::function<void()> bodies[] = {
        [&] { matmul(a, b); },
        [&] {
          std::byte first[4];
          copy_to_host(matmul(gpu_a, gpu_b), first, 1);
        },
        [&] { matmul(a.to(gpu_), b.to(gpu_)).to(host_); },
    };
    const std::vector<Timing> times = stage.time_together(bodies, 0.15);
    return {n, times[0], times[1], times[2]};
  }

 private:
  DeviceContext& host_;
  DeviceContext& gpu_;
};

std::unique_ptr<UnequalPair> choose_pair(LessonStage& stage) {
  Machine& machine = stage.machine();
  for (const Device device : stage.devices()) {
    if (device.kind == DeviceKind::Cuda) {
      return std::make_unique<GpuPair>(machine.at(cpu()), machine.at(device));
    }
  }
  if (stage.at(0).threads().size() >= 2) return std::make_unique<CoresPair>(stage.at(0));
  throw Error(
      Errc::Unsupported,
      trf("lesson crossover: {} has one core and there is no GPU, so there is no "
          "larger device; give cpu:0 all cores, with --cpu-devices 1 or on the Devices page",
          to_string(stage.at(0).device())));
}

// The smallest size from which `larger` stays faster; empty if it is not at the last size. Where
// the times differ by less than a tenth, neither is.
struct Crossing {
  std::optional<double> from, tie_to;  // tie_to: the largest size before it, if that is a tie
};
Crossing crossing(const std::vector<SizeTimes>& sizes, Timing SizeTimes::*larger) {
  constexpr double kTie = 1.1;
  Crossing found;
  for (auto s = sizes.rbegin(); s != sizes.rend(); ++s) {
    const double large_s = ((*s).*larger).median_s, small_s = s->small.median_s;
    if (kTie * large_s < small_s) {
      found.from = static_cast<double>(s->n);
      continue;
    }
    if (found.from && large_s < kTie * small_s) found.tie_to = static_cast<double>(s->n);
    break;
  }
  return found;
}

std::string crossing_text(const Crossing& c) {
  if (!c.from) return tr("never up to the largest size");
  if (!c.tie_to) return fmt::format("N = {:.0f}", *c.from);
  return trf("N = {:.0f}, after a tie at N = {:.0f}", *c.from, *c.tie_to);
}

double flop_of(double n) {
  return 2 * n * n * n;
}

// The constants of both devices, from one size.
struct PairRates {
  double overhead_s = 0, small = 0, large = 0;  // FLOP/s
  PairRates(const SizeTimes& at, double overhead)
      : overhead_s(overhead),
        small(flop_of(static_cast<double>(at.n)) / at.small.median_s),
        large(flop_of(static_cast<double>(at.n)) / computing_s(at.large.median_s, overhead)) {}
  // An overhead above the whole time was disturbed and says nothing.
  static double computing_s(double whole_s, double overhead) {
    return whole_s > overhead ? whole_s - overhead : whole_s;
  }
  // N at which overhead + work at the large device's rate equals the work at the small one's;
  // infinite if the large device is not faster.
  double crossing() const {
    if (large <= small) return INFINITY;
    return std::cbrt(overhead_s / (2 / small - 2 / large));
  }
};

void report_size(LessonStage& stage, const UnequalPair& pair, const SizeTimes& s) {
  const auto sample = [&](const std::string& series, const Timing& time) {
    stage.sample({.series = series,
                  .x = static_cast<double>(s.n),
                  .value = time.median_s,
                  .unit = "s",
                  .time = time});
  };
  sample(pair.small_name(), s.small);
  sample(pair.large_name(), s.large);
  sample(trf("{}, data moved", pair.large_name()), s.moved);
}

// Part of the gap is that neither device reaches its rate at so small a size.
void explain_crossing(LessonStage& stage, const std::vector<SizeTimes>& sizes,
                      const PairRates& rates, double measured) {
  if (!std::isfinite(rates.crossing())) return;
  const auto at = std::find_if(sizes.begin(), sizes.end(), [&](const SizeTimes& s) {
    return static_cast<double>(s.n) == measured;
  });
  const double there = PairRates(*at, rates.overhead_s).crossing();
  std::vector<GapPart> parts;
  if (std::isfinite(there)) parts.push_back({tr("too little work"), there - rates.crossing()});
  stage.gap({tr("N where the larger device wins"), "", rates.crossing(), measured, parts});
}

// A product that takes far longer than a larger one was disturbed, and so was one that falls far
// behind the rate of a smaller one.
void judge_disturbance(LessonStage& stage, const std::vector<SizeTimes>& sizes) {
  const auto disturbed = [&](std::int64_t n, double expected_s, double measured_s) {
    return stage.too_busy(trf("one product of N = {:.0f}", static_cast<double>(n)), expected_s,
                          measured_s);
  };
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    const SizeTimes &smaller = sizes[i - 1], &larger = sizes[i];
    const double growth =
        flop_of(static_cast<double>(larger.n)) / flop_of(static_cast<double>(smaller.n));
    for (const auto times : {&SizeTimes::small, &SizeTimes::large}) {
      const double smaller_s = (smaller.*times).median_s, larger_s = (larger.*times).median_s;
      if (disturbed(smaller.n, larger_s, smaller_s)) return;
      if (disturbed(larger.n, growth * smaller_s, larger_s)) return;
    }
  }
}

void run_crossover_lesson(LessonStage& stage) {
  const std::unique_ptr<UnequalPair> pair = choose_pair(stage);
  const auto largest = static_cast<std::int64_t>(stage.vary());
  stage.step(0);
  const double overhead_s = pair->overhead_s(stage);
  const SizeTimes first = pair->measure(stage, kSmallestSize);
  const SizeTimes last = pair->measure(stage, largest);
  const PairRates rates(last, overhead_s);
  LessonPrediction prediction;
  prediction.series = tr("N where the larger device wins");
  prediction.value = rates.crossing();
  prediction.formula = tr("overhead + 2 N^3 / large rate = 2 N^3 / small rate");
  prediction.constants = {{tr("overhead"), overhead_s, "s"},
                          {tr("small rate"), rates.small, "FLOP/s"},
                          {tr("large rate"), rates.large, "FLOP/s"}};
  stage.predict(prediction);
  std::vector<SizeTimes> sizes = {first};
  report_size(stage, *pair, first);
  for (std::int64_t n = 16; n < largest; n = n % 3 == 0 ? n / 3 * 4 : n / 2 * 3) {
    sizes.push_back(pair->measure(stage, n));
    report_size(stage, *pair, sizes.back());
  }
  sizes.push_back(last);
  report_size(stage, *pair, last);
  const Crossing there = crossing(sizes, &SizeTimes::large);
  const Crossing moved = crossing(sizes, &SizeTimes::moved);
  stage.step(1);
  stage.observe(tr("data on the larger device"), crossing_text(there));
  stage.observe(tr("data to be moved"), crossing_text(moved));
  judge_disturbance(stage, sizes);
  if (there.from) {
    stage.count(prediction.series, *there.from, "");
    stage.answer({*there.from});
    explain_crossing(stage, sizes, rates, *there.from);
    stage.mark(trf("wins from N = {:.0f}", *there.from), *there.from);
  }
  stage.conclude(
      trf("Size from which {} beat {}: {} with the data in place, {} with data to be moved.",
          pair->large_name(), pair->small_name(), crossing_text(there), crossing_text(moved)));
}

}  // namespace

Lesson crossover_lesson() {
  LessonInfo info;
  info.name = "crossover";
  info.title = LAB_TEXT("Large and small on two devices");
  info.chooses_devices = true;
  info.larger_device = true;
  info.text = {
      LAB_TEXT(
          "A larger device computes faster but takes longer to start: threads must be woken, or a "
          "kernel launched. Below some size the smaller device wins."),
      LAB_TEXT("If the operands must be moved first, the larger device must also make up for the "
               "copies, so the crossing moves to larger sizes."),
      LAB_TEXT(
          "Exercise 1 of the chapter, with the CPU and a GPU; without a GPU, with one core and all "
          "cores, between which the data is copied within main memory.")};
  info.steps = {{LAB_TEXT("Products on both devices"),
                 {"torch.mm(A.to(device), B.to(device))", "np.dot(A, B)", "tf.matmul(A, B)",
                  "jnp.matmul(A, B)", "matmul(A, B)"}},
                {LAB_TEXT("The two crossings"), {"", "", "", "", ""}}};
  info.question = {
      .text = LAB_TEXT("From which N on is the larger device faster, with its data in place?"),
      .low = kSmallestSize,
      .high = kLargestSize,
      .why =
          LAB_TEXT("The larger device saves a part of the computing time, which grows with N^3, "
                   "and loses a fixed time to start. It wins once it saves more than it loses.")};
  info.vary = LessonVary{LAB_TEXT("Largest N"), "", 128, kLargestSize, 512, true};
  info.figure = LessonFigure::Curves;
  info.x_label = "N";
  info.y_label = LAB_TEXT("time per product");
  StartMatmul free;
  free.kernels = {"best"};
  free.sizes = {8, 16, 32, 64, 128, 256, 512};
  info.free = free;
  info.set_free = [](JobCommand& command, double largest) {
    std::get<StartMatmul>(command).sizes = parse_counts(fmt::format("8..{:.0f}", largest));
  };
  return {info, run_crossover_lesson};
}

}  // namespace lab::lessons
