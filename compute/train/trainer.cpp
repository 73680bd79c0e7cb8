#include "compute/train/trainer.h"

#include <cmath>

#include "compute/nn/models.h"

namespace lab {

Trainer::Trainer(DeviceContext& device, const TrainerOptions& options)
    : network_(nn::plan_model(options.model), device, options.batch, options.seed),
      sgd_(network_, options.sgd) {}

StepResult Trainer::step(const BatchLoader& loader, std::int64_t step,
                         const nn::PassOptions& options) {
  StepResult result;
  result.images =
      loader.load(step, network_.device().threads(), network_.input(), network_.labels());
  const double images = static_cast<double>(result.images);
  network_.forward(result.images, /*training=*/true, options);
  const nn::BatchResult batch = network_.loss(result.images, images);
  result.loss = batch.loss_sum / images;
  result.correct = batch.correct;
  if (!std::isfinite(result.loss)) return result;
  network_.backward(result.images, options);
  sgd_.step();
  return result;
}

Evaluation Trainer::evaluate(const ImageSet& images, const nn::PassOptions& options) {
  const BatchLoader loader(images, network_.max_batch(), BatchOrder::Sequential, 0);
  const auto classes = static_cast<std::size_t>(network_.classes());
  Evaluation result;
  result.confusion.resize(classes * classes);
  std::int64_t correct = 0;
  for (std::int64_t step = 0; step < loader.steps_per_epoch(); ++step) {
    const std::int64_t n =
        loader.load(step, network_.device().threads(), network_.input(), network_.labels());
    network_.forward(n, /*training=*/false, options);
    const nn::BatchResult batch = network_.loss(n, {});
    result.loss += batch.loss_sum;
    correct += batch.correct;
    const auto predicted = network_.predicted(n);
    const auto confidence = network_.confidence(n);
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      ++result.confusion[network_.labels()[i] * classes + predicted[i]];
    }
    result.predicted.insert(result.predicted.end(), predicted.begin(), predicted.end());
    result.confidence.insert(result.confidence.end(), confidence.begin(), confidence.end());
  }
  if (images.count == 0) return result;
  result.loss /= static_cast<double>(images.count);
  result.accuracy = static_cast<double>(correct) / static_cast<double>(images.count);
  return result;
}

}  // namespace lab
