// Lesson "tensors": a tensor occupies memory on exactly one device.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/events/tensor_code.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

double account_of(DeviceContext& device) {
  return static_cast<double>(device.memory().used_bytes());
}

// Bytes of the whole pages that hold the tensor and are in main memory. The growth of the process
// would be smaller: the allocator reuses freed pages.
std::optional<double> resident_bytes(Tensor& x) {
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  const auto into_page = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x.data()) %
                                                   static_cast<std::uintptr_t>(page));
  const std::int64_t span = into_page + x.bytes();
  std::vector<unsigned char> pages(static_cast<std::size_t>((span + page - 1) / page));
  if (::mincore(x.data() - into_page, static_cast<std::size_t>(span), pages.data()) != 0) return {};
  const auto resident =
      std::count_if(pages.begin(), pages.end(), [](unsigned char p) { return (p & 1) != 0; });
  return static_cast<double>(resident * page);
}

std::string values_text(const Tensor& x) {
  return trf("[{}] on {}", preview(x, 8), to_string(x.device()));
}

void refuse_too_large(LessonStage& stage, DeviceContext& device) {
  const std::int64_t elements = device.memory().limit_bytes() / 4 + 1024;
  std::optional<std::string> refusal;
  const std::int64_t before = device.memory().used_bytes();
  try {
    const Tensor x(device, {elements}, DType::F32, "too large");
  } catch (const Error& e) {
    refusal = e.what();
    stage.check(tr("the refusal names the lack of memory"), e.code() == Errc::OutOfMemory,
                *refusal);
  }
  stage.observe(fmt::format("rand({})", elements), refusal.value_or(tr("allocated")));
  stage.check(tr("a tensor above the limit is refused"), refusal.has_value());
  stage.check(tr("a refused tensor leaves no memory behind"),
              device.memory().used_bytes() == before);
}

void run_tensors_lesson(LessonStage& stage) {
  DeviceContext& device = stage.at(0);
  const auto n = static_cast<std::int64_t>(stage.vary());
  const double expected = 4.0 * static_cast<double>(n) * static_cast<double>(n);
  const std::string series = trf("memory of rand({}, {})", n, n);
  LessonPrediction prediction;
  prediction.series = series;
  prediction.value = expected;
  prediction.unit = "B";
  prediction.formula = tr("N * N * 4 B");
  prediction.constants = {{"N", static_cast<double>(n), ""}};
  stage.predict(prediction);

  stage.step(0);
  const float typed[] = {1, 2, 3};
  stage.observe("X = tensor([1, 2, 3])", values_text(from(device, {3}, typed)));
  stage.step(1);
  stage.observe("ones(2, 3)", values_text(ones(device, {2, 3})));
  stage.step(2);
  const double before = account_of(device);
  double grown = 0;
  {
    Tensor x = rand(device, {n, n}, 1);
    grown = account_of(device) - before;
    stage.count(series, grown, "B");
    const auto pages = is_gpu(device.device()) ? std::nullopt : resident_bytes(x);
    if (pages) stage.count(tr("its pages in main memory"), *pages, "B");
  }
  const double after = account_of(device);
  stage.count(tr("left after the tensor is gone"), after - before, "B");
  stage.check(tr("used memory grows by exactly the tensor's bytes"), grown == expected,
              trf("{} of {} bytes", grown, expected));
  stage.check(tr("it is free again once the tensor is gone"), after == before);
  stage.answer({grown});
  stage.gap({series, "B", expected, grown, {}});
  stage.step(3);
  refuse_too_large(stage, device);
  stage.conclude(
      trf("rand({}, {}) took {} on {} and nothing elsewhere; {} of {} are free for tensors.", n, n,
          format_bytes(std::llround(grown)), to_string(device.device()),
          format_bytes(device.memory().limit_bytes() - device.memory().used_bytes()),
          format_bytes(device.memory().limit_bytes())));
}

}  // namespace

Lesson tensors_lesson() {
  LessonInfo info;
  info.name = "tensors";
  info.timed = false;
  info.title = LAB_TEXT("Where a tensor lives");
  info.chooses_devices = true;
  info.text = {LAB_TEXT("A tensor's elements are stored in the memory of one device. The device is "
                        "chosen when the "
                        "tensor is created; without a choice it is the CPU."),
               LAB_TEXT("An element of type float32 takes 4 bytes, whatever its value. The lab "
                        "keeps an account of "
                        "every device, so that the cost of a tensor can be read exactly."),
               LAB_TEXT("A tensor that does not fit is refused, and nothing is allocated.")};
  info.steps = {
      {LAB_TEXT("Three values"),
       {"X = torch.tensor([1, 2, 3])", "X = np.array([1, 2, 3])", "X = tf.constant([1, 2, 3])",
        "X = jnp.array([1, 2, 3])", "X = tensor([1, 2, 3])"}},
      {LAB_TEXT("Ones, on a chosen device"),
       {"torch.ones(2, 3, device=try_gpu())", "np.ones((2, 3), ctx=try_gpu())",
        "with try_gpu(): tf.ones((2, 3))", "jax.device_put(jnp.ones((2, 3)), try_gpu())",
        "ones(2, 3, device=try_gpu())"}},
      {LAB_TEXT("Random values"),
       {"torch.rand(N, N, device=try_gpu())", "np.random.uniform(size=(N, N), ctx=try_gpu())",
        "with try_gpu(): tf.random.uniform((N, N))", "jax.random.uniform(key, (N, N))",
        "rand(N, N, device=try_gpu())"}},
      {LAB_TEXT("More than the device has"),
       {"torch.rand(huge)", "np.random.uniform(size=huge)", "tf.random.uniform((huge,))",
        "jax.random.uniform(key, (huge,))", "rand(huge)"}}};
  info.question = {
      .text = LAB_TEXT("N is {}. By how many bytes does the device's memory grow for rand(N, N)?"),
      .unit = "B",
      .low = 1024,
      .high = 1 << 30,
      .why = LAB_TEXT("N rows of N elements of 4 bytes each take 4 N^2 bytes.")};
  info.vary = LessonVary{LAB_TEXT("Size N"), "", 64, 8192, 1024, true};
  info.free = RunTensorCode{{parse_tensor_statement("X = tensor([1, 2, 3])")}};
  info.set_free = [](JobCommand& command, double n) {
    command = RunTensorCode{{parse_tensor_statement(fmt::format("X = rand({0:.0f}, {0:.0f})", n))}};
  };
  return {info, run_tensors_lesson};
}

}  // namespace lab::lessons
