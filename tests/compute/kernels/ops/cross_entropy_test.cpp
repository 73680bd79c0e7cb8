#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "compute/kernels/ops/row_ops.h"
#include "compute/tensor/random.h"

namespace lab {
namespace {

struct SmoothedLoss {
  double value = 0;
  std::vector<double> gradient;
};

// -sum(target * log softmax(z)) by its definition.
SmoothedLoss expected_loss(const float* z, std::size_t classes, std::uint8_t label,
                           double smoothing) {
  double sum = 0;
  for (std::size_t c = 0; c < classes; ++c) sum += std::exp(double{z[c]});
  SmoothedLoss loss;
  for (std::size_t c = 0; c < classes; ++c) {
    const double target =
        (c == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes);
    loss.value -= target * (double{z[c]} - std::log(sum));
    loss.gradient.push_back(std::exp(double{z[c]}) / sum - target);
  }
  return loss;
}

TEST(CrossEntropy, AgreesWithFloat64WithAndWithoutSmoothing) {
  for (const std::size_t classes : {1U, 2U, 10U, 33U, 256U}) {
    constexpr std::size_t kRows = 7;
    std::vector<float> logits(kRows * classes), losses(kRows), gradients(kRows * classes);
    std::vector<std::uint8_t> labels, predicted(kRows);
    RandomStream{1, classes}.fill_normal(logits);
    for (std::size_t r = 0; r < kRows; ++r) {
      labels.push_back(static_cast<std::uint8_t>(r * 5 % classes));
    }
    for (const double smoothing : {0.0, 0.1, 0.5}) {
      SCOPED_TRACE(testing::Message() << classes << " classes, smoothing " << smoothing);
      simd::softmax_cross_entropy({.logits = logits.data(),
                                   .labels = labels.data(),
                                   .rows = kRows,
                                   .classes = static_cast<std::int64_t>(classes),
                                   .smoothing = smoothing,
                                   .losses = losses.data(),
                                   .predicted = predicted.data(),
                                   .d_logits = gradients.data(),
                                   .divisor = 6});
      for (std::size_t r = 0; r < kRows; ++r) {
        const SmoothedLoss expected =
            expected_loss(logits.data() + r * classes, classes, labels[r], smoothing);
        EXPECT_NEAR(losses[r], expected.value, 1e-6 * (1 + expected.value)) << r;
        for (std::size_t c = 0; c < classes; ++c) {
          EXPECT_NEAR(gradients[r * classes + c], expected.gradient[c] / 6, 1e-7) << r << " " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lab
