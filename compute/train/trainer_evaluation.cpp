// Evaluation of a test set over all devices of all processes, and its page of sample images.
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "compute/train/trainer.h"

namespace lab {
namespace {

template <typename Values>
auto part_of(Values& values, std::int64_t begin, std::int64_t end) {
  return std::span(values).subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(end - begin));
}

void count(const ImageSet& images, std::size_t classes, Evaluation& evaluation) {
  evaluation.confusion.resize(classes * classes);
  std::int64_t correct = 0;
  for (std::size_t i = 0; i < evaluation.predicted.size(); ++i) {
    const std::size_t label = images.labels[i], predicted = evaluation.predicted[i];
    ++evaluation.confusion[label * classes + predicted];
    correct += label == predicted ? 1 : 0;
  }
  if (images.count == 0) return;
  evaluation.loss /= static_cast<double>(images.count);
  evaluation.accuracy = static_cast<double>(correct) / static_cast<double>(images.count);
}

}  // namespace

Evaluation Trainer::evaluate(const ImageSet& images, const nn::PassOptions& options,
                             const std::function<void(double)>& progress) {
  gather_statistics();
  Evaluation result;
  result.predicted.resize(static_cast<std::size_t>(images.count));
  result.confidence.resize(static_cast<std::size_t>(images.count));
  const BatchLoader loader(images, std::max<std::int64_t>(images.count, 1), BatchOrder::Sequential,
                           0);
  std::vector<TestPart> parts = test_parts(images.count);
  std::int64_t rounds = 0;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    const TestPart& part = parts[first_local_ + i];
    const std::int64_t batch = replicas_[i]->network().max_batch();
    rounds = std::max(rounds, (part.end - part.begin + batch - 1) / batch);
  }
  const auto all_rounds = static_cast<double>(std::max<std::int64_t>(1, rounds));
  for (std::int64_t round = 0; agree_on_round(round < rounds); ++round) {
    // Other processes may have more rounds.
    if (progress) progress(std::min(1.0, static_cast<double>(round) / all_rounds));
    run_interruptible([&](std::size_t i) {
      nn::PassOptions own{.kernels = options.kernels, .stop = abort_.get_token()};
      if (i == 0) own.between_ops = options.between_ops;
      evaluate_batch(parts[first_local_ + i], *replicas_[i], loader, round, own, result);
    });
  }
  if (!ranks_.single()) gather_tests(parts, result);
  for (const TestPart& part : parts) result.loss += part.loss_sum;
  count(images, static_cast<std::size_t>(network().classes()), result);
  return result;
}

std::vector<Trainer::TestPart> Trainer::test_parts(std::int64_t images) const {
  std::vector<TestPart> parts;
  std::int64_t begin = 0;
  for (const std::int64_t n : split_images(images, weights_)) {
    parts.push_back({begin, begin + n});
    begin += n;
  }
  return parts;
}

void Trainer::evaluate_batch(TestPart& part, Replica& replica, const BatchLoader& loader,
                             std::int64_t round, const nn::PassOptions& options, Evaluation& into) {
  nn::Network& network = replica.network();
  const std::int64_t begin = part.begin + round * network.max_batch();
  const std::int64_t end = std::min(begin + network.max_batch(), part.end);
  if (begin >= end) return;
  replica.load(loader, 0, {begin, end});
  network.forward(end - begin, /*training=*/false, options);
  part.loss_sum += network.loss(end - begin, {}).loss_sum;
  std::ranges::copy(network.predicted(end - begin), part_of(into.predicted, begin, end).begin());
  std::ranges::copy(network.confidence(end - begin), part_of(into.confidence, begin, end).begin());
}

// Processes run through a set in lockstep, so that each of them can end the evaluation for all.
bool Trainer::agree_on_round(bool more) {
  if (ranks_.single()) return more;
  const std::array<bool, 2> mine = {more, stop_.stop_requested()};
  bool stop = false;
  for (const std::vector<std::byte>& theirs :
       ranks_.all_gather(std::as_bytes(std::span(mine)), rank_wait())) {
    more = more || theirs[0] != std::byte{0};
    stop = stop || theirs[1] != std::byte{0};
  }
  if (stop) throw AgreedStop();
  return more;
}

// Each process has evaluated one contiguous piece of the set, divided by device.
void Trainer::gather_tests(std::vector<TestPart>& parts, Evaluation& evaluation) {
  const auto gather = [&](auto values) {
    return ranks_.all_gather(std::as_bytes(std::span(values)), rank_wait());
  };
  const auto mine = std::span(parts).subspan(first_local_, replicas_.size());
  const std::int64_t begin = mine.front().begin, end = mine.back().end;
  const auto all_parts = gather(mine);
  const auto predicted = gather(part_of(evaluation.predicted, begin, end));
  const auto confidence = gather(part_of(evaluation.confidence, begin, end));
  std::vector<TestPart>::iterator part = parts.begin();
  std::size_t image = 0;
  for (std::size_t rank = 0; rank < all_parts.size(); ++rank) {
    const std::size_t n = all_parts[rank].size() / sizeof(TestPart);
    if (static_cast<std::size_t>(parts.end() - part) < n ||
        evaluation.predicted.size() - image < predicted[rank].size() ||
        confidence[rank].size() != predicted[rank].size() * sizeof(float)) {
      throw Error(Errc::Internal, tr("training: another process evaluated other test images"));
    }
    std::memcpy(&*part, all_parts[rank].data(), all_parts[rank].size());
    part += static_cast<std::ptrdiff_t>(n);
    if (predicted[rank].empty()) continue;
    std::memcpy(&evaluation.predicted[image], predicted[rank].data(), predicted[rank].size());
    std::memcpy(&evaluation.confidence[image], confidence[rank].data(), confidence[rank].size());
    image += predicted[rank].size();
  }
}

namespace {

constexpr std::size_t kWrongSamples = 32;

// Brings forward the first of every pair of label and prediction, then the second, and so on, each
// time in the order given.
void mix_confusions(const ImageSet& images, const Evaluation& evaluation,
                    std::vector<std::size_t>& wrong) {
  std::map<std::pair<int, int>, int> seen;
  std::vector<std::pair<int, std::size_t>> rounds;
  rounds.reserve(wrong.size());
  for (const std::size_t i : wrong) {
    rounds.emplace_back(seen[{images.labels[i], evaluation.predicted[i]}]++, i);
  }
  std::ranges::stable_sort(rounds, {}, &std::pair<int, std::size_t>::first);
  std::ranges::transform(rounds, wrong.begin(), &std::pair<int, std::size_t>::second);
}

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
  mix_confusions(images, evaluation, wrong);
  const std::size_t room = kPredictionSamples - std::min(right.size(), kPredictionSamples);
  wrong.resize(std::min(wrong.size(), std::max(kWrongSamples, room)));
  right.resize(std::min(right.size(), kPredictionSamples - wrong.size()));

  Predictions predictions{.epoch = epoch, .images = {}};
  for (const std::size_t i : wrong) predictions.images.push_back(sample(images, evaluation, i));
  for (const std::size_t i : right) predictions.images.push_back(sample(images, evaluation, i));
  return predictions;
}

}  // namespace lab
