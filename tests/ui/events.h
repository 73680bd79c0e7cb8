#pragma once
// Sample events of the kinds that jobs emit, for tests of the model and the pages.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/core/units.h"
#include "ui/model/model.h"

namespace lab::test {

inline MachineInfo machine_of(int cpus) {
  MachineInfo machine;
  machine.host = "bench";
  machine.system = "Debian GNU/Linux 12";
  machine.kernel = "6.1.0";
  for (int i = 0; i < cpus; ++i) {
    DeviceInfo info;
    info.device = cpu(i);
    info.name = "AMD EPYC 9654 96-Core Processor";
    info.simd = "AVX-512";
    info.simd_detail = "AVX-512 with BF16 and VNNI";
    info.cores = {2 * i, 2 * i + 1};
    info.threads = 2;
    info.packages = 1;
    info.numa_nodes = {0};
    info.caches = {{1, 32 * kKiB, 2, 64, {{0}, {1}}},
                   {2, kMiB, 2, 64, {{0}, {1}}},
                   {3, 32 * kMiB, 1, 64, {{0, 1}}}};
    info.clock_max_mhz = 3700.0;
    info.memory_total_bytes = 8 * kGiB;
    info.memory_limit_bytes = 6 * kGiB / cpus;
    info.details = {{"Hypervisor", "KVM"}};
    machine.devices.push_back(std::move(info));
  }
  machine.absent.push_back({"NVIDIA GPU", "no NVIDIA driver: libcuda.so.1 is not installed"});
  return machine;
}

inline Event event(JobId job, double t_s, Payload payload) {
  return {job, t_s, std::move(payload)};
}

inline Telemetry telemetry(const std::vector<Device>& devices, double t_s, double busy) {
  Telemetry all;
  for (const Device device : devices) {
    DeviceTelemetry one;
    one.device = device;
    one.t_s = t_s;
    one.utilisation = busy;
    one.core_utilisation = {busy, busy / 2};
    one.clock_mhz = 2900.0;
    one.temperature_c = Maybe<double>::missing("the kernel reports no sensor");
    one.memory_available_bytes = 5 * kGiB;
    one.lab_used_bytes = 12 * kMiB;
    one.lab_peak_bytes = 96 * kMiB;
    all.devices.push_back(std::move(one));
  }
  all.lab_cpu = 0.007;
  all.lab_rss_bytes = 90 * kMiB;
  return all;
}

inline TensorInfo tensor(TensorId id, Device device, std::int64_t bytes) {
  TensorInfo t;
  t.id = id;
  t.name = "X" + std::to_string(id);
  t.device = device;
  t.shape = {bytes / 4};
  t.bytes = bytes;
  t.owned_by_page = true;
  t.preview = "0.1234, -1.5, 0.75, 2, 0.001, -0.25, ...";
  return t;
}

inline Timing timing(double median_s) {
  Timing t;
  t.median_s = median_s;
  t.p10_s = 0.95 * median_s;
  t.p90_s = 1.1 * median_s;
  t.min_s = 0.9 * median_s;
  t.max_s = 1.3 * median_s;
  t.n = 31;
  t.warmup = 3;
  return t;
}

inline MatmulSample matmul_sample(Device device, const std::string& kernel, std::int64_t n,
                                  double gflops) {
  MatmulSample s;
  s.device = device;
  s.kernel = kernel;
  s.library = kernel == "onednn";
  s.m = s.n = s.k = n;
  const auto size = static_cast<double>(n);
  s.time = timing(2 * size * size * size / (gflops * 1e9));
  s.gflops = gflops;
  s.verified = true;
  s.share_of_peak = gflops / 500;
  s.share_of_library = gflops / 480;
  s.conditions.unix_time_s = 1'700'000'000;
  s.conditions.clock_mhz = 2900.0;
  return s;
}

// Ceilings of one and two threads, with bandwidths of three cache levels and memory.
inline CeilingsMeasured ceilings_measured(Device device) {
  CeilingsMeasured c;
  c.device = device;
  c.threads = 2;
  c.compute = {{.name = "FMA f32", .threads = 1, .gflops = 250, .time = timing(0.001)},
               {.name = "FMA f32", .threads = 2, .gflops = 500, .time = timing(0.001)}};
  const auto level = [&](const char* name, std::int64_t cache_bytes, std::int64_t bytes,
                         double gb_per_s) {
    c.bandwidth.push_back({.name = name,
                           .cache_bytes = cache_bytes,
                           .working_set_bytes = bytes,
                           .gb_per_s = gb_per_s,
                           .median_gb_per_s = 0.9 * gb_per_s,
                           .p10_gb_per_s = 0.8 * gb_per_s,
                           .p90_gb_per_s = 0.95 * gb_per_s,
                           .time = timing(static_cast<double>(bytes) / gb_per_s / 1e9)});
  };
  level("L1", 96 * kKiB, 48 * kKiB, 1000);
  level("L2", 2 * kMiB, kMiB, 400);
  level("L3", 32 * kMiB, 16 * kMiB, 200);
  level("memory", 0, 128 * kMiB, 40);
  return c;
}

inline TransferSample transfer_sample(Device from, Device to, TransferOp op, int threads,
                                      std::int64_t bytes, double gb_per_s) {
  TransferSample s;
  s.from = from;
  s.to = to;
  s.op = op;
  s.threads = threads;
  s.bytes = bytes;
  s.gb_per_s = gb_per_s;
  s.time = timing(static_cast<double>(bytes) / (gb_per_s * 1e9));
  s.verified = true;
  return s;
}

inline TrainingStarted training_started(bool synthetic) {
  TrainingStarted s;
  s.request.model = "lenet";
  s.request.data = synthetic ? DataSource::Synthetic : DataSource::FashionMnist;
  s.lr = 0.9;
  s.parameters = 61706;
  s.train_images = 60000;
  s.test_images = 10000;
  s.steps_per_epoch = 235;
  s.total_steps = 2350;
  s.synthetic = synthetic;
  s.class_names = {"T-shirt", "Trouser", "Pullover", "Dress", "Coat",
                   "Sandal",  "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  return s;
}

inline StepDone step_done(std::int64_t step) {
  StepDone s;
  s.step = step;
  s.epoch = 1 + (step - 1) / 235;
  s.loss = 2.3 * std::exp(-static_cast<double>(step) / 400) + 0.05 * static_cast<double>(step % 7);
  s.accuracy = 1 - std::exp(-static_cast<double>(step) / 300);
  s.images = 256;
  s.images_per_s = 11000 + 100 * static_cast<double>(step % 5);
  s.t_s = 0.02 * static_cast<double>(step);
  return s;
}

// A step of 256 images divided over the devices. Device 0 takes 1.5 times as long per image;
// `automatic` shares compensate for it exponentially, with a time constant of 100 steps.
inline std::vector<DeviceStep> device_steps(int devices, int ranks, std::int64_t step,
                                            bool automatic) {
  std::vector<DeviceStep> all;
  const double even = 256.0 / devices;
  const double less = automatic ? 1 - std::exp(-static_cast<double>(step) / 100) : 0;
  const double first = 1 - less * (devices - 1) / (3.0 * devices - 1);
  double longest_s = 0;
  for (int i = 0; i < devices; ++i) {
    DeviceStep d;
    d.rank = i * ranks / devices;
    d.device = cpu(i % (devices / ranks));
    const double part = i == 0 ? first : (devices - first) / (devices - 1);
    d.images = std::lround(even * part);
    d.compute_s = (i == 0 ? 0.021 : 0.014) * part + 1e-4 * static_cast<double>((step + i) % 5);
    d.all_reduce_s = 0.002;
    d.exposed_s = 0.0001;
    longest_s = std::max(longest_s, d.compute_s);
    all.push_back(d);
  }
  for (DeviceStep& d : all) d.wait_s = longest_s - d.compute_s;
  return all;
}

// A measurement of a machine on which one device takes 80 ms for a step of 256 images, and each
// additional device adds 3 % overhead.
inline ScalingPoint scaling_point(ScalingMode mode, int devices, bool shares_cores = false) {
  constexpr double kOne_s = 0.08;
  const bool weak = mode == ScalingMode::Weak;
  const double n = devices;
  constexpr double kTwoCores = 1.9;  // total speed-up of devices that share two cores
  const double efficiency = shares_cores ? kTwoCores / n : 1 / (1 + 0.03 * (n - 1));
  ScalingPoint p;
  p.mode = mode;
  p.devices = devices;
  p.batch = weak ? 256 * devices : 256;
  p.speedup = n * efficiency;
  p.efficiency = efficiency;
  p.images_per_s = 256 / kOne_s * p.speedup;
  p.step = timing(static_cast<double>(p.batch) / p.images_per_s);
  p.split.compute_s = p.step.median_s;
  if (devices > 1) {
    p.split.compute_s = 0.95 * p.step.median_s;
    p.split.all_reduce_s = 0.03 * p.step.median_s;
    p.split.exposed_s = 0.01 * p.step.median_s;
    p.split.imbalance_s = 0.02 * p.step.median_s;
    p.hidden_share = 2.0 / 3;
  }
  if (!weak) {
    p.test_acc = 0.8123 + 0.0004 * n;
    p.accuracy_steps = 235;
  }
  p.shares_cores = shares_cores;
  p.conditions.unix_time_s = 1'700'000'000;
  p.conditions.clock_mhz = 2900.0;
  return p;
}

inline ScalingPrediction scaling_prediction(ScalingMode mode, int devices) {
  constexpr double kOne_s = 0.08;
  const bool weak = mode == ScalingMode::Weak;
  const double n = devices;
  ScalingPrediction p;
  p.mode = mode;
  p.devices = devices;
  p.link = "nvlink";
  p.basis = "measured on cpu:0";
  p.batch = weak ? 256 * devices : 256;
  p.split.compute_s = weak ? kOne_s : kOne_s / n;
  if (devices > 1) {
    p.split.all_reduce_s = 0.0004;
    p.split.exposed_s = 0.0002;
  }
  p.step_s = p.split.compute_s + p.split.exposed_s;
  p.images_per_s = static_cast<double>(p.batch) / p.step_s;
  p.speedup = p.images_per_s * kOne_s / 256;
  p.efficiency = p.speedup / n;
  return p;
}

// A step of 10 ms with 256 images: two layers forward and backward, a bucket that is ready after
// 6 ms.
inline StepTimeline step_timeline(int devices) {
  StepTimeline t;
  t.model = "mlp";
  t.step = 7;
  t.seconds = 0.01;
  t.loss = 1.5;
  t.layers = {{"net.1", "linear", "784 to 256"}, {"net.3", "linear", "256 to 10"}};
  for (int d = 0; d < devices; ++d) {
    t.devices.push_back({.device = cpu(d), .images = 256 / devices});
    const auto add = [&](TimelineLane lane, StepPhase phase, int part, double begin, double end) {
      t.spans.push_back({.device = d,
                         .lane = lane,
                         .phase = phase,
                         .part = part,
                         .begin_s = begin * 1e-3,
                         .end_s = end * 1e-3,
                         .flop = 2'000'000,
                         .bytes = 1'000'000});
    };
    add(TimelineLane::Copies, StepPhase::Batch, 0, 0, 1);
    add(TimelineLane::Compute, StepPhase::Forward, 0, 1, 3);
    add(TimelineLane::Compute, StepPhase::Forward, 1, 3, 4);
    add(TimelineLane::Compute, StepPhase::Backward, 1, 4, 6);
    add(TimelineLane::Compute, StepPhase::Backward, 0, 6.5, 9);
    if (devices > 1) add(TimelineLane::Sums, StepPhase::AllReduce, 0, 6, 6.5);
    add(TimelineLane::Compute, StepPhase::Update, 0, 9, 10);
  }
  if (devices > 1) {
    t.buckets.push_back({.bytes = 4096, .ready_s = std::vector<double>(t.devices.size(), 0.006)});
    t.buckets.back().done_s = 0.010;
  }
  return t;
}

inline ScalingComparison scaling_comparison() {
  ScalingComparison comparison{{}, 0.027, 0.108};
  for (const int devices : {2, 4, 16}) {
    ComparedScaling row;
    row.system = "DGX-2, V100, AMP";
    row.source = "where it was published";
    row.link = "nvlink2";
    row.devices = devices;
    row.batch = 256 * devices;
    row.one_device_images_per_s = 1492;
    row.published_images_per_s = 1400.0 * devices;
    row.predicted_images_per_s = 1480.0 * devices;
    row.counted = devices < 16;
    comparison.rows.push_back(row);
  }
  return comparison;
}

// Prediction for the machine of scaling_point() itself, with its measured step time.
inline ScalingPrediction scaling_check(ScalingMode mode, int devices) {
  ScalingPrediction p = scaling_prediction(mode, devices);
  p.link = "memory";
  p.measured_step_s = scaling_point(mode, devices).step.median_s;
  return p;
}

// Profile of lenet with the lab's kernels and, if `both`, the library's, which take 25 % longer
// wherever they compute. Has `layers` convolutions, the first of which takes longest.
inline TrainingProfile training_profile(bool both, int layers = 3) {
  TrainingProfile p;
  p.device = cpu();
  p.model = "lenet";
  p.images = 256;
  p.threads = 2;
  p.peak_gflops = 500;
  for (const Kernels kernels : {Kernels::Lab, Kernels::Library}) {
    if (kernels == Kernels::Library && !both) break;
    const double slower = kernels == Kernels::Library ? 1.25 : 1;
    double sum_s = 0;
    ProfileTotal total;
    const auto add = [&](std::string layer, const char* kind, StepPhase phase, double median_s,
                         std::int64_t flop) {
      ProfileRow row{.layer = std::move(layer), .kind = kind, .phase = phase, .kernels = kernels};
      row.shape = flop > 0 ? "64x28x28 to 64x28x28" : "";
      row.flop = flop;
      row.bytes = 20'000'000;
      row.method = flop == 0                      ? ""
                   : kernels == Kernels::Library  ? "onednn"
                   : phase == StepPhase::Backward ? "winograd4/winograd2"
                                                  : "winograd4";
      row.time = timing(flop > 0 ? median_s * slower : median_s);
      sum_s += row.time.median_s;
      total.shares[static_cast<std::size_t>(phase)] += row.time.median_s;
      p.rows.push_back(std::move(row));
    };
    const auto name = [](int i) { return "resnet_block" + std::to_string(i) + ".0.conv1"; };
    add("batch", "images to floats", StepPhase::Batch, 0.0002, 0);
    for (int i = 1; i <= layers; ++i) {
      add(name(i), "convolution", StepPhase::Forward, 0.01 / i, 1'000'000'000);
      add("relu after " + name(i), "relu", StepPhase::Forward, 0.001 / i, 0);
    }
    add("loss", "softmax and cross-entropy", StepPhase::Loss, 0.00001, 0);
    for (int i = layers; i >= 1; --i) {
      add("relu after " + name(i), "relu", StepPhase::Backward, 0.002 / i, 0);
      add(name(i), "convolution", StepPhase::Backward, 0.02 / i, 2'000'000'000);
    }
    add("update", "SGD", StepPhase::Update, 0.003, 0);
    total.kernels = kernels;
    total.rows = timing(sum_s);
    total.unaccounted_s = 0.0001;
    total.step = timing(sum_s + total.unaccounted_s);
    total.step.warmup = 2;
    for (double& share : total.shares) share /= total.step.median_s;
    p.totals.push_back(total);
  }
  return p;
}

inline TourFigure tour_figure(Device device, TourQuestion question) {
  TourFigure f;
  f.device = device;
  f.question = question;
  switch (question) {
    case TourQuestion::Peak: f.value = 187e9; break;
    case TourQuestion::Bandwidth: f.value = 11.2e9; break;
    case TourQuestion::SmallCopy: f.value = 4.31e-6; break;
    case TourQuestion::Training: f.value = 9530; break;
  }
  const bool ceiling = question == TourQuestion::Peak || question == TourQuestion::Bandwidth;
  f.median = ceiling ? 0.97 * f.value : f.value;
  f.low = 0.95 * f.median;
  f.high = 1.02 * f.median;
  f.n = 31;
  f.complete = true;
  f.threads = 2;
  if (question == TourQuestion::Peak) f.plain_share = 0.0031, f.best_share = 0.84;
  if (question == TourQuestion::SmallCopy) f.all_threads_s = 9e-6;
  return f;
}

inline EpochDone epoch_done(std::int64_t epoch) {
  EpochDone e;
  e.epoch = epoch;
  e.train_loss = 1.0 / static_cast<double>(epoch);
  e.train_acc = 1 - 0.4 / static_cast<double>(epoch);
  e.test_acc = 1 - 0.45 / static_cast<double>(epoch);
  e.seconds = 5.1;
  e.images_per_s = 11500;
  return e;
}

inline Predictions predictions(std::size_t count) {
  Predictions p;
  p.epoch = 1;
  for (std::size_t i = 0; i < count; ++i) {
    PredictedImage image;
    for (std::size_t j = 0; j < image.pixels.size(); ++j) {
      image.pixels[j] = static_cast<std::uint8_t>((i * 37 + j * 11 + j / 28 * 5) % 256);
    }
    image.label = static_cast<int>(i % 10);
    image.predicted = i < count / 2 ? static_cast<int>((i + 1) % 10) : image.label;
    image.confidence = 0.62F;
    p.images.push_back(image);
  }
  return p;
}

inline Confusion confusion() {
  Confusion c;
  c.epoch = 1;
  for (int label = 0; label < 10; ++label) {
    for (int predicted = 0; predicted < 10; ++predicted) {
      c.counts.push_back(label == predicted ? 820 : 20);
    }
  }
  return c;
}

}  // namespace lab::test
