#include "compute/train/prediction_samples.h"

#include <algorithm>
#include <vector>

namespace lab {
namespace {

constexpr std::size_t kWrongSamples = 32;

PredictedImage sample(const ImageSet& images, const Evaluation& evaluation, std::size_t i) {
  PredictedImage image;
  const auto first = images.pixels.begin() + static_cast<std::ptrdiff_t>(i * image.pixels.size());
  std::copy_n(first, image.pixels.size(), image.pixels.begin());
  image.label = images.labels[i];
  image.predicted = evaluation.predicted[i];
  image.confidence = evaluation.confidence[i];
  return image;
}

}  // namespace

Predictions sample_predictions(std::int64_t epoch, const ImageSet& images,
                               const Evaluation& evaluation) {
  std::vector<std::size_t> wrong, right;
  for (std::size_t i = 0; i < evaluation.predicted.size(); ++i) {
    (evaluation.predicted[i] == images.labels[i] ? right : wrong).push_back(i);
  }
  std::stable_sort(wrong.begin(), wrong.end(), [&](std::size_t a, std::size_t b) {
    return evaluation.confidence[a] > evaluation.confidence[b];
  });
  const std::size_t room = kPredictionSamples - std::min(right.size(), kPredictionSamples);
  wrong.resize(std::min(wrong.size(), std::max(kWrongSamples, room)));
  right.resize(std::min(right.size(), kPredictionSamples - wrong.size()));

  Predictions predictions{.epoch = epoch, .images = {}};
  for (const std::size_t i : wrong) predictions.images.push_back(sample(images, evaluation, i));
  for (const std::size_t i : right) predictions.images.push_back(sample(images, evaluation, i));
  return predictions;
}

}  // namespace lab
