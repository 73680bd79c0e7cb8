#include "compute/experiments/scaling/published_scaling.h"

#include <algorithm>
#include <cmath>

#include "compute/core/language.h"
#include "compute/experiments/scaling/process_cost.h"
#include "compute/measure/statistics.h"

namespace lab {
namespace {

constexpr const char* kMxnet = LAB_TEXT(
    "NVIDIA DeepLearningExamples, MxNet/Classification/RN50v1.5, training performance, "
    "mxnet-20.12");
constexpr const char* kPytorch = LAB_TEXT(
    "NVIDIA DeepLearningExamples, PyTorch/Classification/ConvNets/resnet50v1.5, training "
    "performance, pytorch-21.03");
constexpr const char* kTensorflow =
    LAB_TEXT("TensorFlow benchmarks (2017), Amazon EC2 p2.8xlarge, synthetic data");
constexpr const char* kBookResnet = LAB_TEXT(
    "Dive into Deep Learning, PyTorch notebooks executed from 2021 to 2023 on V100s, mean seconds "
    "per epoch of 60,000 images over 103 runs; batch 256 per GPU");
constexpr const char* kBookLenet = LAB_TEXT(
    "Dive into Deep Learning, PyTorch notebooks executed from 2021 to 2023 on V100s, mean seconds "
    "per epoch of 60,000 images over 138 runs; network from scratch, batch 256 in total");

constexpr double kResNet50Parameters = 25.6e6;
constexpr double kBucketBytes = 25 << 20;

// Buckets of equal size that become ready at regular intervals. The large gradients of a residual
// network are ready earlier, so this hides less than the network does.
std::vector<BucketLoad> regular_buckets(double bytes) {
  const auto whole = static_cast<std::size_t>(std::ceil(bytes / kBucketBytes));
  const auto count = static_cast<double>(whole);
  std::vector<BucketLoad> buckets;
  buckets.reserve(whole);
  for (std::size_t i = 1; i <= whole; ++i) {
    buckets.push_back({bytes / count, static_cast<double>(i) / count});
  }
  return buckets;
}

PublishedSystem resnet50(std::string name, const char* source, std::string link, std::int64_t batch,
                         double bytes_per_gradient, std::vector<PublishedRate> rates) {
  PublishedSystem system;
  system.name = std::move(name);
  system.source = source;
  system.link = std::move(link);
  system.batch = batch;
  system.work.buckets = regular_buckets(kResNet50Parameters * bytes_per_gradient);
  system.rates = std::move(rates);
  return system;
}

void add_nvidia(std::vector<PublishedSystem>& all) {
  all.push_back(resnet50("DGX-2, V100, FP32", kMxnet, "nvlink2", 128, 4,
                         {{1, 417}, {2, 821}, {4, 1623}, {8, 3223}, {16, 6338}}));
  all.push_back(resnet50("DGX-2, V100, AMP", kMxnet, "nvlink2", 256, 2,
                         {{1, 1492}, {2, 2935}, {4, 5726}, {8, 11368}, {16, 21484}}));
  all.push_back(resnet50("DGX-1, V100, FP32", kMxnet, "nvlink2", 96, 4,
                         {{1, 384}, {2, 763}, {4, 1513}, {8, 3005}}));
  all.push_back(resnet50("DGX A100, TF32", kMxnet, "nvlink3", 256, 4,
                         {{1, 1022}, {2, 2032}, {4, 4035}, {8, 8001}}));
  all.push_back(resnet50("EC2, K80, FP32", kTensorflow, "pcie3", 64, 4,
                         {{1, 51.5}, {2, 98}, {4, 195}, {8, 384}}));
}

// Added after the counted rows were chosen.
void add_others(std::vector<PublishedSystem>& all) {
  const auto add = [&all](PublishedSystem system) {
    system.counted = false;
    all.push_back(std::move(system));
  };
  add(resnet50("DGX-1, V100, AMP", kMxnet, "nvlink2", 192, 2,
               {{1, 1376}, {2, 2768}, {4, 5357}, {8, 10723}}));
  add(resnet50("DGX A100, AMP", kMxnet, "nvlink3", 256, 2,
               {{1, 2180}, {2, 4332}, {4, 8587}, {8, 16925}}));
  add(resnet50("DGX-1, FP32, PyTorch", kPytorch, "nvlink2", 128, 4, {{1, 367}, {8, 2855}}));
  add(resnet50("DGX-1, AMP, PyTorch", kPytorch, "nvlink2", 256, 4, {{1, 1200}, {8, 8322}}));
  add(resnet50("DGX A100, TF32, PyTorch", kPytorch, "nvlink3", 256, 4, {{1, 938}, {8, 7248}}));
  add(resnet50("DGX A100, AMP, PyTorch", kPytorch, "nvlink3", 256, 4, {{1, 2470}, {8, 16621}}));
}

// Reading the training set alone with the chapter's four worker processes takes 2.55 +- 0.66 s per
// epoch in the 60 executions that recorded both times (section "The Image Classification Dataset",
// May 2021 to July 2022; 2.26 +- 0.56 s in all 261 executions).
constexpr double kReadingS = 2.55 / 60000;
constexpr double kFloatBytes = 4;

PublishedSystem book(std::string name, const char* source, ScalingMode mode) {
  PublishedSystem system;
  system.name = std::move(name);
  system.source = source;
  system.style = ParallelStyle::DataParallel;
  system.link = "nvlink2-single";
  system.mode = mode;
  system.batch = 256;
  system.work.reading_s_per_image = kReadingS;
  system.work.input_bytes = 28 * 28 * kFloatBytes;
  system.work.output_bytes = 10 * kFloatBytes;
  return system;
}

void add_book(std::vector<PublishedSystem>& all) {
  PublishedSystem resnet = book(LAB_TEXT("Book, V100, ResNet-18"), kBookResnet, ScalingMode::Weak);
  resnet.work.buckets = bucket_loads("resnet18", static_cast<std::int64_t>(kBucketBytes));
  resnet.work.repeated_s = repeated_s("resnet18");
  resnet.rates = {{1, 60000 / 13.99}, {2, 60000 / 9.06}};
  all.push_back(std::move(resnet));
  // The chapter's network from scratch; its own all-reduce sums each tensor on device 0.
  PublishedSystem lenet = book(LAB_TEXT("Book, V100, LeNet"), kBookLenet, ScalingMode::Strong);
  constexpr double kSizes[] = {10, 1280, 128, 102400, 50, 25000, 20, 180};
  for (const double size : kSizes) lenet.work.buckets.push_back({size * kFloatBytes, 1});
  constexpr double kOperations = 14;
  lenet.work.repeated_s = repeated_s(kOperations, std::size(kSizes));
  lenet.rates = {{1, 60000 / 2.50}, {2, 60000 / 2.62}};
  all.push_back(std::move(lenet));
}

ComparedScaling compare(const PublishedSystem& system, const PublishedRate& rate) {
  const double one = system.rates.front().images_per_s;
  Workload work = system.work;
  work.compute.per_image_s = 1 / one;
  const std::int64_t batch =
      system.mode == ScalingMode::Weak ? system.batch * rate.devices : system.batch;
  const PredictedStep step = predict_step(work, find_link(system.link),
                                          all_reduce_style(system.style), rate.devices, batch);
  ComparedScaling row;
  row.system = system.name;
  row.source = system.source;
  row.style = system.style;
  row.link = system.link;
  row.devices = rate.devices;
  row.batch = batch;
  row.one_device_images_per_s = one;
  row.published_images_per_s = rate.images_per_s;
  row.predicted_images_per_s = static_cast<double>(batch) / step.step_s;
  row.counted = system.counted;
  return row;
}

}  // namespace

std::vector<PublishedSystem> published_systems() {
  std::vector<PublishedSystem> all;
  add_nvidia(all);
  add_book(all);
  add_others(all);
  return all;
}

ScalingComparison compare_with_published(std::span<const PublishedSystem> systems) {
  ScalingComparison comparison;
  std::vector<double> errors;
  for (const PublishedSystem& system : systems) {
    for (std::size_t i = 1; i < system.rates.size(); ++i) {
      comparison.rows.push_back(compare(system, system.rates[i]));
      const ComparedScaling& row = comparison.rows.back();
      if (row.counted) errors.push_back(std::abs(row.error()));
    }
  }
  if (errors.empty()) return comparison;
  comparison.median_error = median(errors);
  comparison.worst_error = *std::max_element(errors.begin(), errors.end());
  return comparison;
}

ScalingComparison compare_with_published() {
  return compare_with_published(published_systems());
}

}  // namespace lab
