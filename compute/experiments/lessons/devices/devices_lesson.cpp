// Lesson "devices": a device's name is free, but the device must exist.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "compute/core/error.h"
#include "compute/core/events/core_text.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/experiments/lessons/devices/device_lessons.h"
#include "compute/experiments/matmul/tensor_matmul.h"
#include "compute/tensor/tensor.h"

namespace lab::lessons {
namespace {

double process_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::string cores_and_caches(const DeviceInfo& info) {
  std::vector<std::string> parts = {
      info.core_kinds.empty()
          ? trf("cores: {}", info.cores.size())
          : trf("cores: {}, of them {}", info.cores.size(), core_kinds_text(info))};
  for (const CacheInfo& cache : info.caches) {
    parts.push_back(
        fmt::format("L{} {} x {}", cache.level, cache.instances, format_bytes(cache.size_bytes)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void describe_machine(LessonStage& stage) {
  const MachineInfo& info = stage.machine().info();
  for (const DeviceInfo& device : info.devices) {
    const std::string name = to_string(device.device);
    if (!device.name.empty()) stage.observe(name, device.name);
    if (device.device.kind == DeviceKind::Cpu) {
      stage.observe(trf("{} cores and caches", name), cores_and_caches(device));
    }
    stage.observe(trf("{} memory", name), format_bytes(device.memory_limit_bytes));
  }
  for (const AbsentDevice& absent : info.absent) stage.observe(absent.what, absent.reason);
}

// Links between devices: CPU devices share the main memory, GPUs are reached over PCIe, and GPUs
// with peer access reach each other's memory directly.
void draw_map(LessonStage& stage) {
  Machine& machine = stage.machine();
  LessonMap map{.devices = machine.info().devices, .absent = machine.info().absent};
  for (std::size_t i = 0; i < map.devices.size(); ++i) {
    const Device from = map.devices[i].device;
    if (from == cpu()) continue;
    const bool gpu = from.kind == DeviceKind::Cuda;
    map.links.push_back({cpu(), from, gpu ? "PCIe" : tr("main memory")});
    for (std::size_t j = i + 1; gpu && j < map.devices.size(); ++j) {
      const Device to = map.devices[j].device;
      const bool direct = machine.at(from).gpu()->can_access(*machine.at(to).gpu());
      if (direct) map.links.push_back({from, to, tr("peer access")});
    }
  }
  stage.map(std::move(map));
}

std::string use_of(Machine& machine, Device device) {
  try {
    machine.at(device);
    return trf("{} can be used", to_string(device));
  } catch (const Error& e) {
    return e.what();
  }
}

// Mean number of cores that the rest of the program keeps busy: the window, the readings.
double busy_without_work(LessonStage& stage) {
  const double begin_s = monotonic_s();
  const double begin_cpu_s = process_cpu_seconds();
  while (monotonic_s() - begin_s < 0.4) {
    stage.context().checkpoint();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return (process_cpu_seconds() - begin_cpu_s) / (monotonic_s() - begin_s);
}

// Multiplies for `seconds` and returns the mean number of busy cores.
double busy_cores(LessonStage& stage, DeviceContext& device, double seconds) {
  const Tensor a = rand(device, {1024, 1024}, 1);
  const Tensor b = rand(device, {1024, 1024}, 2);
  matmul(a, b);  // starts the threads
  const double begin_s = monotonic_s();
  const double begin_cpu_s = process_cpu_seconds();
  while (monotonic_s() - begin_s < seconds) {
    stage.context().checkpoint();
    matmul(a, b);
  }
  return (process_cpu_seconds() - begin_cpu_s) / (monotonic_s() - begin_s);
}

void load_during_product(LessonStage& stage) {
  DeviceContext& device = stage.machine().at(cpu());
  const double threads = device.info().threads;
  LessonPrediction prediction;
  prediction.series = tr("busy cores while cpu:0 multiplies");
  prediction.value = threads;
  prediction.unit = "cores";
  prediction.formula = tr("threads of cpu:0");
  prediction.constants = {{tr("threads"), threads, ""}};
  stage.predict(prediction);
  const double others = busy_without_work(stage);
  const double busy = busy_cores(stage, device, 1.5);
  stage.count(prediction.series, busy, prediction.unit);
  constexpr double kSmall = 0.05;
  stage.gap({prediction.series,
             prediction.unit,
             threads,
             busy,
             {{tr("window and readings"), others},
              {tr("waiting"), std::min(0.0, busy - others - threads)}}},
            kSmall);
}

void run_devices_lesson(LessonStage& stage) {
  Machine& machine = stage.machine();
  stage.step(0);
  stage.observe("cpu()", use_of(machine, cpu()));
  draw_map(stage);
  describe_machine(stage);
  stage.step(1);
  stage.observe("gpu(1)", use_of(machine, gpu(1)));
  stage.check(tr("cuda:1 can be named without a GPU"), to_string(gpu(1)) == "cuda:1");
  stage.step(2);
  stage.count("num_gpus()", machine.num_gpus(), "");
  stage.step(3);
  const Device tenth = machine.try_gpu(10);
  stage.observe("try_gpu(10)", to_string(tenth));
  stage.check(tr("try_gpu(10) returns a device that exists"), machine.has(tenth));
  stage.answer({tenth == gpu(10) ? 0.0 : 1.0});
  stage.step(4);
  std::vector<std::string> all;
  for (const Device d : machine.try_all_gpus()) all.push_back(to_string(d));
  stage.observe("try_all_gpus()", fmt::format("[{}]", fmt::join(all, ", ")));
  stage.check(tr("try_all_gpus() is never empty"), !all.empty());
  stage.step(5);
  load_during_product(stage);
  const std::string returned = to_string(tenth);
  const int cpus = machine.num_cpus(), gpus = machine.num_gpus();
  stage.conclude(
      tenth == gpu(10)
          ? trf("This machine's CPU devices: {}, GPUs: {}; there is an eleventh GPU, so "
                "try_gpu(10) returned {}.",
                cpus, gpus, returned)
          : trf("This machine's CPU devices: {}, GPUs: {}; cuda:10 is only a name here, so "
                "try_gpu(10) returned {}.",
                cpus, gpus, returned));
}

}  // namespace

Lesson devices_lesson() {
  LessonInfo info;
  info.name = "devices";
  info.timed = false;
  info.about_machine = true;
  info.title = LAB_TEXT("What computes here");
  info.text = {
      LAB_TEXT(
          "Every computation runs on a device. cpu:0 stands for the processor's cores and the main "
          "memory; the lab can split the cores into several devices, cpu:0, cpu:1 and so on. Each "
          "GPU is a device of its own, with its own memory."),
      LAB_TEXT("Naming a device costs nothing: gpu(10) is the call that names cuda:10. Using it "
               "requires that it exists. JAX names existing devices only."),
      LAB_TEXT("The chapter therefore adds two functions that also work where a GPU is missing: "
               "try_gpu(i) for one device, and try_all_gpus() for all. In the lab the latter "
               "returns the CPU where there is no GPU, as the book's comment says; the book's code "
               "returns an empty list.")};
  info.steps = {
      {LAB_TEXT("The CPU"),
       {"torch.device('cpu')", "npx.cpu()", "tf.device('/CPU:0')", "jax.devices('cpu')[0]",
        "cpu()"}},
      {LAB_TEXT("A second GPU"),
       {"torch.device('cuda:1')", "npx.gpu(1)", "tf.device('/GPU:1')", "jax.devices('gpu')[1]",
        "gpu(1)"}},
      {LAB_TEXT("The number of GPUs"),
       {"torch.cuda.device_count()", "npx.num_gpus()",
        "len(tf.config.list_physical_devices('GPU'))", "jax.device_count('gpu')",
        "machine.num_gpus()"}},
      {LAB_TEXT("An eleventh GPU, if there is one"),
       {"try_gpu(10)", "try_gpu(10)", "try_gpu(10)", "try_gpu(10)", "machine.try_gpu(10)"}},
      {LAB_TEXT("All GPUs, if there are any"),
       {"try_all_gpus()", "try_all_gpus()", "try_all_gpus()", "try_all_gpus()",
        "machine.try_all_gpus()"}},
      {LAB_TEXT("The load while a product runs"),
       {"torch.mm(A, B)", "np.dot(A, B)", "tf.matmul(A, B)", "jnp.matmul(A, B)", "matmul(A, B)"}}};
  info.question = {.text = LAB_TEXT("What does try_gpu(10) return on this machine?"),
                   .choices = {LAB_TEXT("cuda:10"), LAB_TEXT("cpu:0"), LAB_TEXT("an error")},
                   .why = LAB_TEXT("try_gpu(i) returns the i-th GPU if it exists, and otherwise "
                                   "cpu:0, which every machine has.")};
  return {info, run_devices_lesson};
}

}  // namespace lab::lessons
