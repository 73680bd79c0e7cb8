// Lesson "roofline": arithmetic units and memory bound what any kernel can reach.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/experiments/matmul/ceilings.h"
#include "compute/experiments/matmul/tensor_matmul.h"
#include "compute/kernels/gemm/peak.h"
#include "compute/measure/gpu_peak.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

constexpr double kAskedSizes[] = {16, 128, 512, 2048};

struct Ceilings {
  double flops = 0;  // FLOP/s
  std::vector<BandwidthCeiling> levels;
  double memory_bytes_per_s = 0;  // main memory or GPU memory
};

double bytes_per_s(const BandwidthCeiling& level) {
  return level.gb_per_s * 1e9;
}

Ceilings measure_ceilings(LessonStage& stage, DeviceContext& device) {
  const std::stop_token stop = stage.context().stop_token();
  const MeasureOptions options{.budget_s = 0.5, .cancelled = [&] { return stop.stop_requested(); }};
  Ceilings ceilings;
  const bool on_gpu = is_gpu(device.device());
  if (on_gpu) {
    const auto peak = measure_gpu_peak(device, Precision::F32, options);
    if (peak) ceilings.flops = peak->gflops * 1e9;
  } else {
    ceilings.flops = measure_peak(device.device(), &device.threads(), options).gflops * 1e9;
  }
  const MeasuredBandwidths& bandwidths =
      on_gpu ? gpu_bandwidths_of(device, stop) : bandwidths_of(device, stop);
  ceilings.levels = bandwidths.levels;
  for (const BandwidthCeiling& level : ceilings.levels) {
    if (level.cache_bytes == 0) ceilings.memory_bytes_per_s = bytes_per_s(level);
  }
  if (ceilings.flops > 0 && ceilings.memory_bytes_per_s > 0) return ceilings;
  std::string why = tr("no peak is known for this device");
  for (const MissingCeiling& level : bandwidths.missing) why = level.name + ": " + level.reason;
  throw Error(Errc::Unsupported, trf("lesson roofline: {} has no ceiling to compare with: "
                                     "{}; choose another device with --devices",
                                     to_string(device.device()), why));
}

// One kernel: how often it computes per byte that it must move.
struct RoofKernel {
  std::string name;
  double flop = 0, bytes = 0;
};

// The memory level that the kernel's arrays fit in: repetitions find them there.
const BandwidthCeiling& level_of(const Ceilings& ceilings, const RoofKernel& kernel) {
  return *level_holding(ceilings.levels, kernel.bytes);
}

double roof(const Ceilings& ceilings, const RoofKernel& kernel) {
  return std::min(ceilings.flops,
                  bytes_per_s(level_of(ceilings, kernel)) * kernel.flop / kernel.bytes);
}

std::string bandwidth_of(const BandwidthCeiling& level) {
  return trf("bandwidth of {}", tr(level.name));
}

void report_point(LessonStage& stage, const Ceilings& ceilings, const RoofKernel& kernel,
                  std::int64_t n, const Timing& time) {
  const BandwidthCeiling& level = level_of(ceilings, kernel);
  LessonPrediction prediction;
  prediction.series = kernel.name;
  prediction.x = static_cast<double>(n);
  prediction.value = roof(ceilings, kernel);
  prediction.unit = "FLOP/s";
  prediction.formula = tr("min(peak, bandwidth * FLOP / bytes)");
  prediction.constants = {{tr("peak"), ceilings.flops, "FLOP/s"},
                          {bandwidth_of(level), bytes_per_s(level), "B/s"},
                          {"N", static_cast<double>(n), ""},
                          {"FLOP", kernel.flop, ""},
                          {tr("bytes"), kernel.bytes, "B"}};
  stage.predict(prediction);
  stage.sample({.series = kernel.name,
                .x = static_cast<double>(n),
                .value = kernel.flop / time.median_s,
                .unit = "FLOP/s",
                .time = time});
}

// A kernel of one size: its limit is a row, since a single point draws no line.
void report_elementwise(LessonStage& stage, const Ceilings& ceilings, const RoofKernel& kernel,
                        std::int64_t n, const Timing& time) {
  report_point(stage, ceilings, kernel, n, time);
  stage.count(trf("limit of {} at N = {}, arrays in {}", kernel.name, n,
                  tr(level_of(ceilings, kernel).name)),
              roof(ceilings, kernel), "FLOP/s");
}

// On a GPU, reading one element waits for the queued work.
void finish_queue(const Tensor& x) {
  if (!is_gpu(x.device())) return;
  std::byte first[4];
  copy_to_host(x, first, 1);
}

Timing time_product(LessonStage& stage, DeviceContext& device, std::int64_t n) {
  const Tensor a = rand(device, {n, n}, 1);
  const Tensor b = rand(device, {n, n}, 2);
  return stage.time([&] { finish_queue(matmul(a, b)); }, 0.3);
}

Timing time_add(LessonStage& stage, DeviceContext& device, std::int64_t n) {
  const Tensor x = rand(device, {n, n}, 1);
  const Tensor y = rand(device, {n, n}, 2);
  Tensor z(device, {n, n}, DType::F32, "sum");
  return stage.time(
      [&] {
        add_range(x, y, z, 0, z.size());
        finish_queue(z);
      },
      0.1);
}

Timing time_sin(LessonStage& stage, DeviceContext& device, std::int64_t n) {
  const Tensor x = rand(device, {n, n}, 1);
  Tensor z(device, {n, n}, DType::F32, "sine");
  const float* from = x.values<float>().data();
  float* to = z.values<float>().data();
  return stage.time(
      [&] {
        device.threads().parallel_for(z.size(), 1024, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) to[i] = std::sin(from[i]);
        });
      },
      0.1);
}

// A product of random values with the identity has no rounding.
bool multiplies_exactly(DeviceContext& device) {
  constexpr std::int64_t kN = 64;
  const Tensor a = rand(device, {kN, kN}, 3);
  std::vector<float> identity(kN * kN, 0.0F), expected(kN * kN), product(kN * kN);
  for (std::size_t i = 0; i < kN; ++i) identity[i * kN + i] = 1;
  copy_to_host(a, expected.data(), a.size());
  copy_to_host(matmul(a, from(device, a.shape(), identity)), product.data(), a.size());
  return product == expected;
}

struct Sweep {
  std::vector<double> n, flops;
  std::vector<double> predicted;
};

Sweep sweep_products(LessonStage& stage, DeviceContext& device, const Ceilings& ceilings,
                     std::int64_t largest) {
  Sweep sweep;
  for (std::int64_t n = 16; n <= largest; n *= 2) {
    const double side = static_cast<double>(n);
    const RoofKernel product{tr("product"), 2 * side * side * side, 12 * side * side};
    const Timing time = time_product(stage, device, n);
    report_point(stage, ceilings, product, n, time);
    sweep.n.push_back(side);
    sweep.flops.push_back(product.flop / time.median_s);
    sweep.predicted.push_back(roof(ceilings, product));
  }
  return sweep;
}

// Smallest N that reaches nine tenths of the best rate.
double measured_knee(const Sweep& sweep) {
  const double best = *std::max_element(sweep.flops.begin(), sweep.flops.end());
  for (std::size_t i = 0; i < sweep.n.size(); ++i) {
    if (sweep.flops[i] >= 0.9 * best) return sweep.n[i];
  }
  return sweep.n.back();
}

// `call_s`: the time of a product without work.
void explain_smallest(LessonStage& stage, const Sweep& sweep, double call_s) {
  const double flop = 2 * std::pow(sweep.n.front(), 3);
  const double measured_s = flop / sweep.flops.front();
  const double predicted_s = flop / sweep.predicted.front();
  stage.gap({trf("one product of N = {:.0f}", sweep.n.front()),
             "s",
             predicted_s,
             measured_s,
             {{tr("latency"), std::min(call_s, measured_s)},
              {tr("too little work"), std::max(0.0, measured_s - predicted_s - call_s)}}});
}

void run_roofline_lesson(LessonStage& stage) {
  DeviceContext& device = stage.at(0);
  const auto largest = static_cast<std::int64_t>(stage.vary());
  stage.step(0);
  const Ceilings ceilings = measure_ceilings(stage, device);
  stage.count(tr("peak arithmetic"), ceilings.flops, "FLOP/s");
  for (const BandwidthCeiling& level : ceilings.levels) {
    stage.count(bandwidth_of(level), bytes_per_s(level), "B/s");
  }
  stage.step(1);
  const Sweep sweep = sweep_products(stage, device, ceilings, largest);
  stage.step(2);
  const std::int64_t elementwise = std::min<std::int64_t>(largest, 4096);
  const double count = static_cast<double>(elementwise) * static_cast<double>(elementwise);
  report_elementwise(stage, ceilings, {tr("add"), count, 12 * count}, elementwise,
                     time_add(stage, device, elementwise));
  if (device.device().kind == DeviceKind::Cpu) {
    report_elementwise(stage, ceilings, {"sin", count, 8 * count}, elementwise,
                       time_sin(stage, device, elementwise));
    stage.observe("sin", tr("counts as one operation here but takes tens, so arithmetic is likely "
                            "to limit it rather than memory"));
  }
  const double ideal = std::ceil(6 * ceilings.flops / ceilings.memory_bytes_per_s);
  const double knee = measured_knee(sweep);
  stage.count(tr("ideal knee with arrays in memory, N"), ideal, "");
  stage.count(tr("measured knee, N"), knee, "");
  explain_smallest(stage, sweep, time_product(stage, device, 1).median_s);
  std::vector<double> asked;
  for (const double n : kAskedSizes) {
    const auto at = std::find(sweep.n.begin(), sweep.n.end(), n) - sweep.n.begin();
    asked.push_back(
        sweep.flops[std::min<std::size_t>(static_cast<std::size_t>(at), sweep.flops.size() - 1)]);
  }
  stage.answer(std::move(asked));
  // A large product that falls far behind a smaller one was disturbed.
  const double best = *std::max_element(sweep.flops.begin(), sweep.flops.end());
  const double last_flop = 2 * std::pow(sweep.n.back(), 3);
  stage.too_busy(trf("one product of N = {:.0f}", sweep.n.back()), last_flop / best,
                 last_flop / sweep.flops.back());
  stage.check(tr("a product with the identity matrix returns the other matrix"),
              multiplies_exactly(device));
  stage.conclude(
      trf("The products came within a tenth of their best, {}, at N = {:.0f}; memory alone would "
          "allow {} its peak of {} from N = {:.0f} on.",
          format_si(best, "FLOP/s"), knee, to_string(device.device()),
          format_si(ceilings.flops, "FLOP/s"), ideal));
  stage.mark(trf("within 10 % of the best from N = {:.0f}", knee), knee);
}

}  // namespace

Lesson roofline_lesson() {
  LessonInfo info;
  info.name = "roofline";
  info.title = LAB_TEXT("How fast can it be");
  info.chooses_devices = true;
  info.text = {
      LAB_TEXT("Two limits hold for every kernel: the arithmetic units' peak, and the operations "
               "per byte times the bandwidth of the memory that holds the arrays: a cache if they "
               "fit in it, otherwise main memory or the GPU's memory."),
      LAB_TEXT(
          "An addition computes once per 12 bytes moved, so memory decides. A product of N x N "
          "matrices "
          "computes 2 N^3 times on 12 N^2 bytes: the larger N, the more arithmetic per byte."),
      LAB_TEXT(
          "Where the two limits meet is the knee. Small products stay below both: each call of "
          "matmul(A, B) also allocates its result and binds its thread to a core or, on a GPU, "
          "waits for the end. The Matmul page times the kernel alone and is faster there.")};
  info.steps = {
      {LAB_TEXT("Peak and bandwidth"), {"", "", "", "", "measure_peak(), bandwidths_of()"}},
      {LAB_TEXT("Products of N = 16, 32, ..."),
       {"torch.mm(A, B)", "np.dot(A, B)", "tf.matmul(A, B)", "jnp.matmul(A, B)", "matmul(A, B)"}},
      {LAB_TEXT("Sums and sines"),
       {"X + Y, torch.sin(X)", "X + Y, np.sin(X)", "X + Y, tf.sin(X)", "X + Y, jnp.sin(X)",
        "add(X, Y), sin(X)"}}};
  info.question = {
      .text = LAB_TEXT("How many FLOP/s do products of N = 16, 128, 512 and 2048 reach?"),
      .unit = "FLOP/s",
      .low = 1e8,
      .high = 1e14,
      .at = {std::begin(kAskedSizes), std::end(kAskedSizes)},
      .why = LAB_TEXT(
          "A product cannot exceed the lower of two limits, peak and bandwidth x FLOP per byte. "
          "Small ones stay below both, since starting them takes longer than computing.")};
  info.vary = LessonVary{LAB_TEXT("Largest N"), "", 2048, 8192, 2048, true};
  info.figure = LessonFigure::Curves;
  info.x_label = "N";
  info.y_label = LAB_TEXT("speed");
  StartMatmul free;
  free.kernels = {"best"};
  free.sizes = {16, 32, 64, 128, 256, 512, 1024, 2048};
  info.free = free;
  info.set_free = [](JobCommand& command, double largest) {
    std::get<StartMatmul>(command).sizes = parse_counts(fmt::format("16..{:.0f}", largest));
  };
  return {info, run_roofline_lesson};
}

}  // namespace lab::lessons
