#include "ui/model/training_estimate.h"

#include <algorithm>
#include <cmath>

#include "ui/model/run_estimate.h"

namespace lab::ui {
namespace {

constexpr std::size_t kLeastSteps = 5;  // of a training, for its smoothed speed to count
// Without a measurement: forward is about a third of a step.
constexpr double kTestSpeed = 3;
constexpr std::int64_t kFashionTrain = 60000, kFashionTest = 10000;
constexpr std::int64_t kLeastWidth = 8, kLeastImages = 1000;

std::int64_t test_images(const StartTraining& r) {
  if (!r.evaluate) return 0;
  return r.data == DataSource::FashionMnist ? kFashionTest : r.synthetic_test;
}

double epoch_s(const StartTraining& r, double images_per_s, double test_images_per_s) {
  return static_cast<double>(training_images(r)) / images_per_s +
         static_cast<double>(test_images(r)) / test_images_per_s;
}

// Similar enough for a rough estimate. A small batch has a lower speed than a large one.
bool is_similar(const StartTraining& a, const StartTraining& b) {
  constexpr double kMostRatio = 1.5;  // of the batches
  const auto [less, more] = std::minmax(a.batch, b.batch);
  return a.model == b.model && a.width == b.width && a.data == b.data && a.devices == b.devices &&
         a.kernels == b.kernels && a.dtype == b.dtype &&
         static_cast<double>(more) <= kMostRatio * static_cast<double>(less);
}

}  // namespace

std::int64_t training_images(const StartTraining& request) {
  return request.data == DataSource::FashionMnist ? kFashionTrain : request.synthetic_train;
}

bool equally_fast(const StartTraining& a, const StartTraining& b) {
  return a.model == b.model && a.width == b.width && a.batch == b.batch && a.devices == b.devices &&
         a.kernels == b.kernels && a.compare_kernels == b.compare_kernels &&
         a.convolution == b.convolution && a.dtype == b.dtype &&
         (a.momentum != 0) == (b.momentum != 0) && a.share_policy == b.share_policy &&
         a.shares == b.shares && a.profile == b.profile && a.timeline == b.timeline &&
         a.augment == b.augment && a.sum == b.sum && a.bucket_bytes == b.bucket_bytes &&
         a.steps_ahead == b.steps_ahead;
}

std::optional<TrainingEstimate> estimate_of(const StartTraining& request,
                                            const std::deque<TrainingRun>& runs,
                                            const std::vector<TrainingRate>& rates) {
  if (!std::ranges::all_of(request.devices, is_timed)) return {};
  const auto probe = std::ranges::find_if(
      rates, [&](const TrainingRate& rate) { return equally_fast(rate.request, request); });
  const auto newest = [&](const auto& is_alike) {
    return std::find_if(runs.rbegin(), runs.rend(), [&](const TrainingRun& one) {
      return one.steps().size() >= kLeastSteps && is_alike(one);
    });
  };
  const auto speed_of = [](const TrainingRun& run) {
    return run.done() ? run.done()->images_per_s : run.steps().images_per_s_smooth.back();
  };
  const auto run = newest([&](const TrainingRun& one) {
    return !one.restored() && equally_fast(one.request(), request);
  });
  TrainingEstimate estimate;
  if (run != runs.rend()) {
    estimate.images_per_s = speed_of(*run);
  } else if (probe != rates.end()) {
    estimate.probed = true;
    estimate.images_per_s = probe->images_per_s;
  } else if (const auto similar =
                 newest([&](const TrainingRun& one) { return is_similar(one.request(), request); });
             similar != runs.rend()) {
    estimate.similar = true;
    estimate.images_per_s = speed_of(*similar);
  }
  if (estimate.images_per_s <= 0) return {};
  const double test_images_per_s = probe != rates.end() && probe->test_images_per_s > 0
                                       ? probe->test_images_per_s
                                       : kTestSpeed * estimate.images_per_s;
  const auto seconds = [&](double images_per_s) {
    const double test = test_images_per_s * images_per_s / estimate.images_per_s;
    return static_cast<double>(request.epochs) * epoch_s(request, images_per_s, test);
  };
  estimate.seconds = estimate.least_s = estimate.most_s = seconds(estimate.images_per_s);
  if (estimate.probed && probe->slow_images_per_s > 0) {
    estimate.least_s = seconds(probe->fast_images_per_s);
    estimate.most_s = seconds(probe->slow_images_per_s);
  }
  return estimate;
}

double typical_training_s(const StartTraining& request, const DeviceInfo& device) {
  const double images = static_cast<double>(request.epochs) *
                        static_cast<double>(training_images(request) + test_images(request));
  const double steps = images / static_cast<double>(std::max<std::int64_t>(request.batch, 1));
  const auto devices = static_cast<double>(std::max<std::size_t>(request.devices.size(), 1));
  return steps * typical_step_s(request, device) / devices;
}

double fit_into(double seconds, const TrainingEstimate& estimate, StartTraining& request) {
  double one_s = estimate.seconds / static_cast<double>(std::max<std::int64_t>(request.epochs, 1));
  const double trained =
      std::min(1.0, static_cast<double>(training_images(request)) / estimate.images_per_s / one_s);
  while (one_s > seconds && request.model == "resnet18" && request.width > kLeastWidth) {
    request.width /= 2;
    one_s /= 3;  // a quarter of the products, half of the other traffic
  }
  if (one_s > seconds && request.data == DataSource::Synthetic) {
    const double share = seconds / one_s;
    // Returns the share that is left.
    const auto shrink = [&](std::int64_t& images) {
      const auto before = static_cast<double>(images);
      const auto fitting = static_cast<std::int64_t>(before * share) / kLeastImages * kLeastImages;
      images = std::min(images, std::max(kLeastImages, fitting));
      return static_cast<double>(images) / before;
    };
    const double train = shrink(request.synthetic_train), test = shrink(request.synthetic_test);
    one_s *= trained * train + (1 - trained) * test;
  }
  const auto epochs = static_cast<std::int64_t>(std::floor(seconds / one_s));
  request.epochs = std::clamp<std::int64_t>(epochs, 1, std::max<std::int64_t>(request.epochs, 1));
  return static_cast<double>(request.epochs) * one_s;
}

}  // namespace lab::ui
