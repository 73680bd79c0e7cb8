// The whitened first layer: its filters against the definition, and when a training has them.
#include "compute/train/whitening.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "compute/core/files/whole_file.h"
#include "compute/experiments/training/training_experiment.h"
#include "compute/nn/models.h"
#include "tests/support/errors.h"
#include "tests/support/probe.h"
#include "tests/support/temp_dir.h"

namespace lab {
namespace {

constexpr double kLeastVariance = 5e-4;

class Whitening : public testing::Test {
 protected:
  nn::Network network(const std::string& model, std::int64_t width = kResNetWidth) {
    return {nn::plan_model(model, width), machine_.at(cpu()), /*max_batch=*/1, /*seed=*/3};
  }

  Machine machine_;
};

std::vector<float> first_weights(const nn::Network& network) {
  const nn::Parameter& weight = network.parameters().front();
  return {weight.value, weight.value + weight.size};
}

// Outputs of the first `filters` filters of n x n weights at all places inside of the images, minus
// their means.
std::vector<std::vector<double>> responses(const ImageSet& images,
                                           const std::vector<float>& weights, std::size_t filters,
                                           int n) {
  std::vector<std::vector<double>> all(filters);
  for (std::size_t f = 0; f < filters; ++f) {
    for (std::int64_t i = 0; i < images.count; ++i) {
      for (int y = 0; y + n <= 28; ++y) {
        for (int x = 0; x + n <= 28; ++x) {
          double sum = 0;
          for (int k = 0; k < n * n; ++k) {
            const auto at = static_cast<std::size_t>(i * 784 + (y + k / n) * 28 + x + k % n);
            sum += static_cast<double>(
                       weights[f * static_cast<std::size_t>(n * n) + static_cast<std::size_t>(k)]) *
                   images.pixels[at] / 255.0;
          }
          all[f].push_back(sum);
        }
      }
    }
    double mean = 0;
    for (const double value : all[f]) mean += value / static_cast<double>(all[f].size());
    for (double& value : all[f]) value -= mean;
  }
  return all;
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum / static_cast<double>(a.size());
}

TEST_F(Whitening, GivesUncorrelatedOutputsOfEqualVariance) {
  const ImageSet images = make_synthetic_garments(30, 1, 5).train;
  struct Shape {
    const char* model;
    std::int64_t width;
    std::size_t filters;  // whitened
    int n;
  };
  for (const auto& [model, width, filters, n] :
       {Shape{"convnet", kResNetWidth, 16, 3}, Shape{"lenet", kResNetWidth, 6, 5},
        Shape{"resnet18", 24, 18, 3}}) {
    SCOPED_TRACE(model);
    nn::Network net = network(model, width);
    const std::vector<float> drawn = first_weights(net);
    whiten_first_layer(net, images);
    const std::vector<float> weights = first_weights(net);
    const auto side = static_cast<std::size_t>(n);
    const std::size_t size = side * side;
    const auto outputs = responses(images, weights, filters, n);
    double before = INFINITY;
    for (std::size_t f = 0; f < filters; f += 2) {
      const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(f * size);
      const auto is_opposite = [](float a, float b) { return a == -b; };
      EXPECT_TRUE(std::equal(begin, begin + n * n, begin + n * n, is_opposite)) << f;
      EXPECT_GT(*std::max_element(begin, begin + n * n,
                                  [](float a, float b) { return std::abs(a) < std::abs(b); }),
                0)
          << f;
      // |w|^2 is 1 / (variance of the component + the least one).
      double norm = 0;
      for (auto w = begin; w != begin + n * n; ++w) norm += static_cast<double>(*w) * *w;
      const double variance = 1 / norm - kLeastVariance;
      EXPECT_NEAR(covariance(outputs[f], outputs[f]), variance * norm, 1e-5) << f;
      EXPECT_LE(variance, before * (1 + 1e-6)) << f;
      before = variance;
      for (std::size_t other = 0; other < f; other += 2) {
        EXPECT_NEAR(covariance(outputs[f], outputs[other]), 0, 1e-5) << f << " and " << other;
      }
    }
    for (std::size_t i = filters * size; i < weights.size(); ++i) {
      EXPECT_EQ(weights[i], drawn[i]) << i;
    }
  }
}

TEST_F(Whitening, OfEqualPixelsIsFinite) {
  ImageSet images;
  images.count = 2;
  images.pixels.assign(2 * 784, 200);
  nn::Network net = network("convnet");
  whiten_first_layer(net, images);
  for (const float w : first_weights(net)) {
    EXPECT_LE(std::abs(w), 1 / std::sqrt(kLeastVariance) + 1e-3);
  }
}

TEST_F(Whitening, RefusesWhatItDoesNotFit) {
  const ImageSet images = make_synthetic_garments(1, 1, 5).train;
  nn::Network mlp = network("mlp");
  EXPECT_EQ(test::message_of([&] { whiten_first_layer(mlp, images); }, Errc::InvalidArgument),
            "whitening: 1 images do not fit the first layer of mlp");
  nn::Network convnet = network("convnet");
  test::message_of([&] { whiten_first_layer(convnet, {}); }, Errc::InvalidArgument);
}

TEST_F(Whitening, FactsOfTheModelsAgreeWithTheirPlans) {
  for (const ModelFacts& model : kModelFacts) {
    const nn::NetworkPlan plan = nn::plan_model(model.name);
    EXPECT_EQ(model.begins_with_convolution, plan.parameters.front().shape.size() == 4)
        << model.name;
  }
}

// Runs the training and returns the file of its weights.
std::vector<std::uint8_t> trained(StartTraining request, const MachineOptions& machine = {}) {
  const test::TempDir dir;
  request.save_file = (dir.path() / "weights").string();
  test::Probe probe(machine);
  probe.run(*make_training_experiment(request));
  return files::read_file(request.save_file);
}

StartTraining untrained_convnet() {
  StartTraining request;
  request.model = "convnet";
  request.synthetic_train = 40;
  request.synthetic_test = 10;
  request.batch = 4;
  request.convolution = "rule";
  request.first_layer = FirstLayer::Whitened;
  request.steps = 0;
  return request;
}

TEST_F(Whitening, IsTheSameOnEveryKindAndNumberOfDevices) {
  StartTraining request = untrained_convnet();
  const std::vector<std::uint8_t> one = trained(request);
  request.devices = {cpu(0), cpu(1)};
  EXPECT_EQ(trained(request, {.cpu_devices = 2}), one);
  request.devices = {emulated_gpu(0)};
  EXPECT_EQ(trained(request, {.emulated_gpus = 1}), one);
  request.first_layer = FirstLayer::Drawn;
  EXPECT_NE(trained(request, {.emulated_gpus = 1}), one);
}

TEST_F(Whitening, ReachesReplicasBeforeTheFirstStep) {
  StartTraining request = untrained_convnet();
  request.model = "lenet";  // without batch norm, which normalises the slices of two devices apart
  request.steps = 1;
  request.evaluate = false;
  const auto loss_on = [&](std::vector<Device> devices) {
    request.devices = std::move(devices);
    test::Probe probe({.cpu_devices = 2});
    probe.run(*make_training_experiment(request));
    return probe.all<StepDone>().at(0).loss;
  };
  const double one = loss_on({cpu(0)});
  EXPECT_NEAR(loss_on({cpu(0), cpu(1)}), one, 1e-5 * one);
  request.first_layer = FirstLayer::Drawn;
  EXPECT_GT(std::abs(loss_on({cpu(0)}) - one), 1e-3 * one);
}

TEST_F(Whitening, LeavesTheWeightsOfAFile) {
  const test::TempDir dir;
  StartTraining request = untrained_convnet();
  request.first_layer = FirstLayer::Drawn;
  request.seed = 9;
  const std::vector<std::uint8_t> drawn = trained(request);
  request.init_file = (dir.path() / "drawn").string();
  files::write_file(request.init_file, std::as_bytes(std::span(drawn)));
  request.first_layer = FirstLayer::Whitened;
  request.seed = 1;
  EXPECT_EQ(trained(request), drawn);
}

}  // namespace
}  // namespace lab
