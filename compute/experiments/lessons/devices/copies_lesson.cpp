// Lesson "copies": an operation needs both operands on one device, and nothing moves by itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/core/error.h"
#include "compute/core/events/tensor_code.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

// Time of a copy of `bytes` from one device to another, into memory that is already allocated.
Timing time_copy(LessonStage& stage, DeviceContext& from, DeviceContext& to, std::int64_t bytes) {
  const Tensor x = rand(from, {bytes / 4}, 3);
  Tensor y(to, x.shape(), x.dtype(), "copy");
  return stage.time([&] { copy_range(x, y, 0, x.size()); }, 0.3);
}

// Time of a copy of `bytes` whose operands are not in the caches: each call copies the next part of
// two large arrays.
Timing time_cold_copy(LessonStage& stage, DeviceContext& from, DeviceContext& to,
                      std::int64_t bytes) {
  const std::int64_t part = bytes / 4;
  const std::int64_t all = std::max(4 * part, 128 * kMiB / 4 / part * part);
  const Tensor x = rand(from, {all}, 4);
  Tensor y(to, x.shape(), x.dtype(), "copy");
  std::int64_t begin = 0;
  return stage.time(
      [&] {
        copy_range(x, y, begin, begin + part);
        begin = begin + 2 * part <= all ? begin + part : 0;
      },
      0.3);
}

bool all_twice(const Tensor& z, const Tensor& x) {
  std::vector<float> sum(static_cast<std::size_t>(z.size())), once(sum.size());
  copy_to_host(z, sum.data(), z.size());
  copy_to_host(x, once.data(), x.size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (sum[i] != 2 * once[i]) return false;
  }
  return true;
}

void run_copies_lesson(LessonStage& stage) {
  DeviceContext& first = stage.at(0);
  DeviceContext& second = stage.at(1);
  const auto bytes = static_cast<std::int64_t>(stage.vary()) * kMiB;
  const Tensor x = rand(first, {bytes / 4}, 1);
  const Tensor y = rand(second, {bytes / 4}, 2);

  stage.step(0);
  std::optional<std::string> refusal;
  try {
    add(x, y);
  } catch (const Error& e) {
    refusal = e.what();
    stage.check(tr("the error of X + Y is a device mismatch"), e.code() == Errc::DeviceMismatch);
  }
  stage.observe("X + Y", refusal.value_or(tr("a sum")));
  stage.check(tr("X + Y on two devices is refused"), refusal.has_value());
  stage.answer({0});

  stage.step(1);
  const Timing small = time_copy(stage, first, second, 4096);
  const Timing large = time_copy(stage, first, second, 64 * kMiB);
  const double latency_s = small.median_s;
  const double rate =
      static_cast<double>(64 * kMiB - 4096) / std::max(1e-12, large.median_s - latency_s);
  const std::string series =
      trf("copy {} to {}", to_string(first.device()), to_string(second.device()));
  LessonPrediction prediction;
  prediction.series = series;
  prediction.value = latency_s + static_cast<double>(bytes) / rate;
  prediction.unit = "s";
  prediction.formula = tr("latency + bytes / bandwidth");
  prediction.constants = {{tr("latency"), latency_s, "s"},
                          {tr("bytes"), static_cast<double>(bytes), "B"},
                          {tr("bandwidth"), rate, "B/s"}};
  stage.predict(prediction);
  Tensor moved(second, x.shape(), x.dtype(), "X on the second device");
  const Timing copy = stage.time([&] { copy_range(x, moved, 0, x.size()); }, 0.3);
  stage.sample({.series = series, .value = copy.median_s, .unit = "s", .time = copy});
  const double begin_s = monotonic_s();
  const Tensor z_x = x.to(second);
  const double with_allocation_s = monotonic_s() - begin_s;
  stage.count(tr("X.to(second), memory included"), with_allocation_s, "s");
  const Timing cold = time_cold_copy(stage, first, second, bytes);
  stage.sample({.series = tr("the copy with empty caches"),
                .value = cold.median_s,
                .unit = "s",
                .time = cold});
  stage.gap({series,
             "s",
             prediction.value,
             copy.median_s,
             {{tr("caches"), std::min(0.0, copy.median_s - cold.median_s)}}},
            {small, large, copy, cold});

  stage.step(2);
  const Tensor z = add(z_x, x.copy_to(second));
  stage.observe("Y + Z", trf("[{}] on {}", preview(z, 3), to_string(z.device())));
  stage.check(tr("the sum of two copies is exact"), all_twice(z, x));
  stage.check(tr("the sum is on the device of its operands"), z.device() == second.device());

  stage.step(3);
  const bool same = z_x.to(second).shares_storage_with(z_x);
  stage.observe("Z.to(second)", same ? tr("the same storage") : tr("other storage"));
  stage.check(tr("to() on the same device shares storage"), same);
  stage.step(4);
  const bool apart = !z_x.copy_to(second).shares_storage_with(z_x);
  stage.observe("Z.copy_to(second)", apart ? tr("other storage") : tr("the same storage"));
  stage.check(tr("copy_to() always allocates"), apart);
  stage.conclude(
      trf("Nothing moved until it was asked to: X + Y failed, and the copy of {} took {}, of "
          "which an empty copy takes {}.",
          format_bytes(bytes), format_seconds(copy.median_s), format_seconds(latency_s)));
}

}  // namespace

Lesson copies_lesson() {
  LessonInfo info;
  info.name = "copies";
  info.timed = false;
  info.title = LAB_TEXT("X + Y on two devices");
  info.chooses_devices = true;
  info.devices = 2;
  info.text = {
      LAB_TEXT(
          "X is on the first device and Y on the second. Neither a GPU nor the CPU can read both "
          "operands at full speed, so one of them must be copied first. CPU devices share main "
          "memory, but the lab treats them alike, so that the rule can be seen without a GPU."),
      LAB_TEXT(
          "A library could copy silently, and TensorFlow does. PyTorch, MXNet and this lab refuse, "
          "because a hidden copy in a loop can cost more than the computation."),
      LAB_TEXT("to(device) copies only if it must; copy_to(device) always copies.")};
  info.steps = {
      {LAB_TEXT("Add across devices"),
       {"X + Y", "X + Y", "X + Y  # copies silently", "X + Y", "X + Y"}},
      {LAB_TEXT("Copy X to the second device"),
       {"Z = X.cuda(1)", "Z = X.copyto(try_gpu(1))", "with try_gpu(1): Z = tf.identity(X)",
        "Z = jax.device_put(X, try_gpu(1))", "Z = X.to(second)"}},
      {LAB_TEXT("Add on one device"), {"Y + Z", "Y + Z", "Y + Z", "Y + Z", "Y + Z"}},
      {LAB_TEXT("Move to where it already is"),
       {"Z.cuda(1) is Z", "Z.as_in_ctx(try_gpu(1)) is Z", "tf.identity(Z) is not Z",
        "jax.device_put(Z, try_gpu(1)) is Z", "Z.to(second)"}},
      {LAB_TEXT("Copy to where it already is"),
       {"Z.clone()", "Z.copyto(try_gpu(1))", "tf.identity(Z)", "jnp.copy(Z)",
        "Z.copy_to(second)"}}};
  info.question = {
      .text = LAB_TEXT("X is on the first device, Y on the second. What does X + Y give?"),
      .choices = {LAB_TEXT("an error"), LAB_TEXT("a sum on the first device"),
                  LAB_TEXT("a sum on the second device")},
      .why = LAB_TEXT("An operation needs its operands on one device. A hidden copy could take "
                      "longer than the sum, so the program must ask for it.")};
  info.vary = LessonVary{LAB_TEXT("Size of X"), "MiB", 1, 64, 4, true};
  info.free = RunTensorCode{{parse_tensor_statement("X = ones(2, 3, device=cpu:1)")}};
  info.set_free = [](JobCommand& command, double mib) {
    command = RunTensorCode{
        {parse_tensor_statement(fmt::format("X = ones({:.0f}, 1024, device=cpu:1)", 256 * mib))}};
  };
  return {info, run_copies_lesson};
}

}  // namespace lab::lessons
