#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compute/tensor/random.h"
#include "tests/support/errors.h"
#include "tests/support/layers_under_test.h"

namespace lab {
namespace {

using test::LayersUnderTest;
using test::on_layers;
using test::Tiles;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> normal_numbers(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  RandomStream{seed, 0}.fill_normal(values);
  return values;
}

double sigmoid_of(double x) {
  return 1 / (1 + std::exp(-x));
}

// ---- Batches

// The swaps one after another, as BatchLoader does them.
std::vector<std::uint32_t> order_by_swaps(const GpuImageOrder& order) {
  std::vector<std::uint32_t> images(static_cast<std::size_t>(order.images));
  std::iota(images.begin(), images.end(), 0U);
  for (std::size_t i = images.size(); i > 1 && order.shuffle_stream; --i) {
    const RandomStream random{order.seed, *order.shuffle_stream};
    std::swap(images[i - 1], images[random.below(i, static_cast<std::uint32_t>(i))]);
  }
  for (std::size_t i = 0; i < images.size() && order.flip_stream; ++i) {
    if (RandomStream{order.seed, *order.flip_stream}.below(i, 2) == 1) images[i] |= kFlippedImage;
  }
  return images;
}

void expect_order_by_swaps(GpuImageOrder order) {
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    const auto count = static_cast<std::size_t>(order.images);
    order.to = gpu.output<std::uint32_t>("to", count);
    const auto words = static_cast<std::size_t>(gpu.layers().workspace_bytes(order) / 4);
    order.workspace = reinterpret_cast<std::byte*>(gpu.output<std::uint32_t>("workspace", words));
    gpu.layers().draw_order(order, gpu.stream());
    EXPECT_EQ(gpu.values(order.to, count), order_by_swaps(order)) << count;
  });
}

TEST(LayersOrder, IsThatOfSwapsOneAfterAnother) {
  LAB_REQUIRE_LAYERS();
  constexpr std::uint64_t kSeed = (std::uint64_t{7} << 40) + 5;
  constexpr std::uint64_t kShuffle = (std::uint64_t{1} << 32) + 3, kFlip = 2 * kShuffle;
  for (const std::int64_t images : {1, 2, 3, 4, 5, 9, 1021, 3000}) {
    expect_order_by_swaps({.seed = kSeed, .shuffle_stream = kShuffle, .images = images});
    expect_order_by_swaps(
        {.seed = kSeed, .shuffle_stream = kShuffle, .flip_stream = kFlip, .images = images});
  }
  expect_order_by_swaps({.seed = kSeed, .flip_stream = kFlip, .images = 9});
  expect_order_by_swaps({.seed = kSeed, .images = 9});
}

TEST(LayersGather, TakesImagesInTheOrderFromTheFirst) {
  LAB_REQUIRE_LAYERS();
  constexpr std::int64_t kSize = 300, kSet = 7;
  std::vector<std::uint8_t> pixels, labels;
  for (int i = 0; i < kSet * kSize; ++i) pixels.push_back(static_cast<std::uint8_t>(i * 7));
  for (int i = 0; i < kSet; ++i) labels.push_back(static_cast<std::uint8_t>(i + 3));
  constexpr std::size_t kWidth = 20;
  const std::vector<std::uint32_t> order = {6, 0, 3, 1 | kFlippedImage, 5, 2, 4 | kFlippedImage};
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    GpuGather gather{.pixels = gpu.input("pixels", pixels),
                     .labels = gpu.input("labels", labels),
                     .order = gpu.input("order", order),
                     .first = 2,
                     .images = 5,
                     .image_size = kSize,
                     .width = kWidth,
                     .to_pixels = gpu.output<float>("to_pixels", 5 * kSize),
                     .to_labels = gpu.output<std::uint8_t>("to_labels", 5)};
    gpu.layers().gather(gather, gpu.stream());
    const auto to_labels = gpu.values(gather.to_labels, 5);
    const auto to_pixels = gpu.values(gather.to_pixels, 5 * kSize);
    for (std::size_t i = 0; i < 5; ++i) {
      const std::size_t from = order[2 + i] & ~kFlippedImage;
      const bool flipped = order[2 + i] != from;
      EXPECT_EQ(to_labels[i], labels[from]);
      for (std::size_t p = 0; p < kSize; ++p) {
        const std::size_t x = p % kWidth, q = p - x + (flipped ? kWidth - 1 - x : x);
        ASSERT_EQ(to_pixels[i * kSize + p], static_cast<float>(pixels[from * kSize + q]) / 255.0F);
      }
    }
  });
}

// ---- Activations and pooling

TEST(LayersActivation, AgreesWithFloat64) {
  LAB_REQUIRE_LAYERS();
  const std::vector<float> x = normal_numbers(515, 1), gradient = normal_numbers(515, 2);
  for (const GpuActivation kind : {GpuActivation::Relu, GpuActivation::Sigmoid}) {
    on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
      GpuActivate activate{
          .kind = kind, .count = 515, .x = gpu.inout("x", x), .dx = gpu.inout("dx", gradient)};
      gpu.layers().activation_forward(activate, gpu.stream());
      gpu.layers().activation_backward(activate, gpu.stream());
      const auto y_values = gpu.values(activate.x, x.size());
      const auto dx_values = gpu.values(activate.dx, x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const bool relu = kind == GpuActivation::Relu;
        const double y = relu ? std::max(0.0, double{x[i]}) : sigmoid_of(x[i]);
        const double slope = relu ? (y > 0 ? 1 : 0) : y * (1 - y);
        ASSERT_NEAR(y_values[i], y, 1e-6) << i;
        ASSERT_NEAR(dx_values[i], gradient[i] * slope, 1e-6) << i;
      }
    });
  }
}

TEST(LayersActivation, KeepsNanAndSaturates) {
  LAB_REQUIRE_LAYERS();
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    GpuActivate activate{.kind = GpuActivation::Sigmoid,
                         .count = 3,
                         .x = gpu.inout<float>("x", {kNan, 1000, -1000})};
    gpu.layers().activation_forward(activate, gpu.stream());
    const auto y = gpu.values(activate.x, 3);
    EXPECT_TRUE(std::isnan(y[0]));
    EXPECT_EQ(y[1], 1);
    EXPECT_EQ(y[2], 0);
    activate.kind = GpuActivation::Relu;
    gpu.layers().activation_forward(activate, gpu.stream());
    EXPECT_TRUE(std::isnan(gpu.values(activate.x, 1)[0]));
  });
}

struct PoolCase {
  std::int64_t images, in_h, in_w, channels, kernel_h, kernel_w, stride;
};
constexpr PoolCase kPools[] = {{2, 6, 4, 6, 2, 2, 2},
                               {1, 5, 7, 3, 2, 2, 2},
                               {3, 5, 5, 1, 3, 2, 1},
                               {2, 4, 3, 8, 4, 3, 1},
                               {1, 7, 7, 5, 2, 2, 3}};

struct PoolReference {
  std::vector<double> x, y, dx;

  PoolReference(const GpuAveragePool& pool, const std::vector<float>& in,
                const std::vector<float>& dy, const std::vector<float>& before)
      : x(in.begin(), in.end()),
        y(dy.size()),
        dx(pool.accumulate ? std::vector<double>(before.begin(), before.end())
                           : std::vector<double>(in.size())) {
    if (pool.sigmoid) std::transform(x.begin(), x.end(), x.begin(), sigmoid_of);
    const double share = 1.0 / static_cast<double>(pool.kernel_h * pool.kernel_w);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.size()); ++i) {
      const std::int64_t pixel = i / pool.channels, c = i % pool.channels;
      const std::int64_t ox = pixel % pool.out_w(), oy = pixel / pool.out_w() % pool.out_h();
      const std::int64_t n = pixel / (pool.out_w() * pool.out_h());
      for (std::int64_t k = 0; k < pool.kernel_h * pool.kernel_w; ++k) {
        const std::int64_t iy = oy * pool.stride + k / pool.kernel_w;
        const std::int64_t ix = ox * pool.stride + k % pool.kernel_w;
        const auto from =
            static_cast<std::size_t>(((n * pool.in_h + iy) * pool.in_w + ix) * pool.channels + c);
        y[static_cast<std::size_t>(i)] += x[from] * share;
        dx[from] += double{dy[static_cast<std::size_t>(i)]} * share;
      }
    }
    for (std::size_t i = 0; pool.sigmoid && i < x.size(); ++i) dx[i] *= x[i] * (1 - x[i]);
  }
};

// dtype: of x and dx.
void check_pool(GpuAveragePool pool, DType dtype = DType::F32) {
  const auto count = static_cast<std::size_t>(pool.images * pool.in_h * pool.in_w * pool.channels);
  const auto out =
      static_cast<std::size_t>(pool.images * pool.out_h() * pool.out_w() * pool.channels);
  const auto rounded = [dtype](std::vector<float> values) {
    for (float& value : values) value = LayersUnderTest::rounded_to(value, dtype);
    return values;
  };
  const auto x = rounded(normal_numbers(static_cast<std::int64_t>(count), 1));
  const auto dy = normal_numbers(static_cast<std::int64_t>(out), 2);
  const auto before = rounded(normal_numbers(static_cast<std::int64_t>(count), 3));
  const double rounding = dtype == DType::F32 ? 0 : 0x1p-8;
  const PoolReference expected(pool, x, dy, before);
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    if (dtype != DType::F32 && gpu.by_library()) return;
    pool.x = gpu.inout("x", x, dtype);
    pool.y = gpu.output<float>("y", out);
    pool.dy = gpu.input("dy", dy);
    pool.dx = pool.accumulate ? gpu.inout("dx", before, dtype) : gpu.output("dx", count, dtype);
    gpu.layers().average_pool_forward(pool, gpu.stream());
    gpu.layers().average_pool_backward(pool, gpu.stream());
    const auto y = gpu.values(pool.y, out), x_after = gpu.values(pool.x, count),
               dx = gpu.values(pool.dx, count);
    for (std::size_t i = 0; i < out; ++i) ASSERT_NEAR(y[i], expected.y[i], 2e-6) << i;
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_NEAR(x_after[i], expected.x[i], 1e-6) << i;
      ASSERT_NEAR(dx[i], expected.dx[i], 2e-6 + rounding * std::abs(expected.dx[i])) << i;
    }
  });
}

TEST(LayersPool, AgreesWithFloat64) {
  LAB_REQUIRE_LAYERS();
  for (const PoolCase& one : kPools) {
    GpuAveragePool pool{.images = one.images,
                        .in_h = one.in_h,
                        .in_w = one.in_w,
                        .channels = one.channels,
                        .kernel_h = one.kernel_h,
                        .kernel_w = one.kernel_w,
                        .stride = one.stride};
    check_pool(pool);
    check_pool(pool, DType::BF16);
    pool.accumulate = true;
    check_pool(pool);
    check_pool(pool, DType::BF16);
    pool.accumulate = false;
    pool.sigmoid = true;
    check_pool(pool);
  }
}

TEST(LayersFlatten, TransposesPixelsAndChannelsAndBack) {
  LAB_REQUIRE_LAYERS();
  constexpr std::int64_t kImages = 3, kPixels = 6, kChannels = 5, kCount = 90;
  const std::vector<float> x = normal_numbers(kCount, 1), before = normal_numbers(kCount, 2);
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    GpuFlatten flatten{.images = kImages, .pixels = kPixels, .channels = kChannels};
    flatten.from = gpu.input("x", x);
    flatten.to = gpu.output<float>("y", kCount);
    gpu.layers().flatten(flatten, gpu.stream());
    float* y = flatten.to;
    const auto flat = gpu.values(y, kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      const std::size_t n = i / 30, c = i / 6 % 5, p = i % 6;
      ASSERT_EQ(flat[i], x[(n * 6 + p) * 5 + c]) << i;
    }
    flatten.from = y;
    flatten.backward = true;
    flatten.to = gpu.output<float>("dx", kCount);
    gpu.layers().flatten(flatten, gpu.stream());
    EXPECT_EQ(gpu.values(flatten.to, kCount), x);
    flatten.accumulate = true;
    flatten.to = gpu.inout("accumulated", before);
    gpu.layers().flatten(flatten, gpu.stream());
    const auto sums = gpu.values(flatten.to, kCount);
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(sums[i], x[i] + before[i]) << i;
  });
}

// ---- Loss and update

struct LossRun {
  std::vector<float> losses, confidence, dlogits;
  std::vector<std::uint8_t> predicted;
  GpuLossSum sum;
  float fault = 0;
};

LossRun run_loss(LayersUnderTest& gpu, const std::vector<float>& logits,
                 const std::vector<std::uint8_t>& labels, bool gradient, double divisor = 1,
                 double smoothing = 0) {
  const std::size_t images = labels.size();
  const GpuLoss loss{.images = static_cast<std::int64_t>(images),
                     .classes = static_cast<std::int64_t>(logits.size() / images),
                     .logits = gpu.input("logits", logits),
                     .labels = gpu.input("labels", labels),
                     .smoothing = smoothing,
                     .divisor = divisor,
                     .dlogits = gradient ? gpu.output<float>("dlogits", logits.size()) : nullptr,
                     .losses = gpu.output<float>("losses", images),
                     .predicted = gpu.output<std::uint8_t>("predicted", images),
                     .confidence = gpu.output<float>("confidence", images),
                     .sum = gpu.output<GpuLossSum>("sum", 1),
                     .fault = gradient ? gpu.output<float>("fault", 1) : nullptr};
  gpu.layers().loss(loss, gpu.stream());
  return {gpu.values(loss.losses, images),
          gpu.values(loss.confidence, images),
          gradient ? gpu.values(loss.dlogits, logits.size()) : std::vector<float>{},
          gpu.values(loss.predicted, images),
          gpu.values(loss.sum, 1)[0],
          gradient ? gpu.values(loss.fault, 1)[0] : 0};
}

void expect_loss(const LossRun& run, const std::vector<float>& logits,
                 const std::vector<std::uint8_t>& labels, double divisor, double smoothing = 0) {
  const std::size_t images = labels.size(), classes = logits.size() / images;
  double total = 0;
  std::int64_t correct = 0;
  for (std::size_t n = 0; n < images; ++n) {
    const float* z = logits.data() + n * classes;
    const auto best = static_cast<std::size_t>(std::max_element(z, z + classes) - z);
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(double{z[c]} - z[best]);
    const auto target = [&](std::size_t c) {
      return (c == labels[n] ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes);
    };
    double loss = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      loss += target(c) * (std::log(sum) - (double{z[c]} - z[best]));
    }
    ASSERT_NEAR(run.losses[n], loss, 1e-6 * (1 + loss)) << n;
    ASSERT_EQ(run.predicted[n], best) << n;
    ASSERT_NEAR(run.confidence[n], 1 / sum, 1e-6) << n;
    for (std::size_t c = 0; c < classes && !run.dlogits.empty(); ++c) {
      const double gradient = std::exp(double{z[c]} - z[best]) / sum - target(c);
      ASSERT_NEAR(run.dlogits[n * classes + c], gradient / divisor, 1e-7) << n << " " << c;
    }
    total += double{run.losses[n]};
    correct += best == labels[n] ? 1 : 0;
  }
  EXPECT_NEAR(run.sum.loss, total, 1e-12 * total);
  EXPECT_EQ(run.sum.correct, correct);
  EXPECT_EQ(run.fault, 0);
}

TEST(LayersLoss, AgreesWithFloat64) {
  LAB_REQUIRE_LAYERS();
  struct Size {
    int images, classes;
  };
  for (const Size size : {Size{1, 1}, {7, 10}, {3, 33}, {5, 256}, {270, 3}}) {
    const int images = size.images, classes = size.classes;
    SCOPED_TRACE(std::to_string(images) + " images, " + std::to_string(classes) + " classes");
    const std::vector<float> logits = normal_numbers(std::int64_t{images} * classes, 9);
    std::vector<std::uint8_t> labels;
    labels.reserve(static_cast<std::size_t>(images));
    for (int i = 0; i < images; ++i) labels.push_back(static_cast<std::uint8_t>(i * 5 % classes));
    on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
      for (const double smoothing : {0.0, 0.2}) {
        expect_loss(run_loss(gpu, logits, labels, images % 2 == 1, 6, smoothing), logits, labels, 6,
                    smoothing);
      }
    });
  }
}

TEST(LayersLoss, StaysFiniteForLargeLogitsAndPredictsTheFirstOfEqualClasses) {
  LAB_REQUIRE_LAYERS();
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    const LossRun run = run_loss(gpu, {3e38F, -3e38F, 3e38F, 1, 5, 5}, {0, 1}, true);
    EXPECT_NEAR(run.losses[0], std::log(2.0), 1e-6);
    EXPECT_EQ(run.predicted, (std::vector<std::uint8_t>{0, 1}));
    for (const float g : run.dlogits) EXPECT_TRUE(std::isfinite(g));
  });
}

TEST(LayersLoss, ReportsNan) {
  LAB_REQUIRE_LAYERS();
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    const LossRun run = run_loss(gpu, {1, kNan, 2, 0, 1, 2}, {0, 2}, true);
    EXPECT_TRUE(std::isnan(run.losses[0]));
    EXPECT_LT(run.predicted[0], 3);
    EXPECT_TRUE(std::isnan(run.sum.loss));
    EXPECT_TRUE(std::isnan(run.fault));
    EXPECT_EQ(run.predicted[1], 2);
  });
}

void check_sgd(float momentum, float decay) {
  constexpr std::int64_t kCount = 300;
  const auto weights = normal_numbers(kCount, 1), gradients = normal_numbers(kCount, 2),
             velocity = normal_numbers(kCount, 3);
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    GpuSgd sgd{.count = kCount,
               .weights = gpu.inout("weights", weights),
               .gradients = gpu.input("gradients", gradients),
               .velocity = momentum > 0 ? gpu.inout("velocity", velocity) : nullptr,
               .bf16_weights = decay > 0 ? gpu.output<std::uint16_t>("bf16", kCount) : nullptr,
               .momentum = momentum,
               .weight_decay = decay,
               .lr = gpu.input<float>("rate", {0.1F}),
               .fault = momentum > 0 ? gpu.input<float>("fault", {0}) : nullptr};
    gpu.layers().sgd(sgd, gpu.stream());
    const auto weights_after = gpu.values(sgd.weights, kCount);
    const auto velocity_after =
        momentum > 0 ? gpu.values(sgd.velocity, kCount) : std::vector<float>{};
    for (std::size_t i = 0; i < kCount; ++i) {
      double step = gradients[i] + double{decay} * weights[i];
      if (momentum > 0) {
        step += double{momentum} * velocity[i];
        ASSERT_NEAR(velocity_after[i], step, 1e-6);
      }
      ASSERT_NEAR(weights_after[i], weights[i] - double{0.1F} * step, 1e-6);
    }
    if (decay == 0) return;
    const auto bf16 = gpu.values(sgd.bf16_weights, kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(bf16[i], LayersUnderTest::rounded_bits(weights_after[i])) << i;
    }
  });
}

TEST(LayersSgd, AgreesWithFloat64) {
  LAB_REQUIRE_LAYERS();
  check_sgd(0, 0);
  check_sgd(0, 0.01F);
  check_sgd(0.9F, 0);
  check_sgd(0.9F, 5e-4F);
}

TEST(LayersRounding, RoundsToTheNearestBf16) {
  LAB_REQUIRE_LAYERS();
  constexpr std::size_t kCount = 2056;
  auto values = normal_numbers(kCount, 1);
  values[0] = 1 + 0x1p-8F;  // ties to even
  values[1] = 1 + 0x3p-8F;
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    GpuRounding rounding{.count = kCount, .from = gpu.input("from", values)};
    auto* const to = gpu.output<std::uint16_t>("to", kCount);
    rounding.to = to;
    gpu.layers().round_to_bf16(rounding, gpu.stream());
    const auto bits = gpu.values(to, kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(bits[i], LayersUnderTest::rounded_bits(values[i])) << i;
    }
  });
}

TEST(LayersSgd, ChangesNothingAfterALossThatIsNotFinite) {
  LAB_REQUIRE_LAYERS();
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    const GpuSgd sgd{.count = 3,
                     .weights = gpu.inout<float>("weights", {1, 2, 3}),
                     .gradients = gpu.input<float>("gradients", {kNan, 1, 1}),
                     .velocity = gpu.inout<float>("velocity", {4, 5, 6}),
                     .momentum = 0.9F,
                     .lr = gpu.input<float>("rate", {0.1F}),
                     .fault = gpu.input<float>("fault", {kNan})};
    gpu.layers().sgd(sgd, gpu.stream());
    EXPECT_EQ(gpu.values(sgd.weights, 3), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(gpu.values(sgd.velocity, 3), (std::vector<float>{4, 5, 6}));
  });
}

// The loss that is too large for FP32 is an infinity there.
TEST(LayersLoss, MarksALossThatIsNotFinite) {
  LAB_REQUIRE_LAYERS();
  on_layers(Tiles::Chosen, [&](LayersUnderTest& gpu) {
    const LossRun run = run_loss(gpu, {3e38F, -3e38F}, {1}, true);
    EXPECT_TRUE(std::isinf(run.sum.loss));
    EXPECT_TRUE(std::isnan(run.fault));
  });
}

// ---- Sizes

TEST(LayersSizes, WrongOnesAreReportedWithTheOperation) {
  LAB_REQUIRE_LAYERS();
  test::on_layers(Tiles::Chosen, [](LayersUnderTest& gpu) {
    const auto message = [&](const auto& call) {
      return test::message_of([&] { call(gpu.layers(), gpu.stream()); }, Errc::InvalidArgument);
    };
    EXPECT_EQ(message([](auto& layers, auto& stream) { layers.sgd({.count = 0}, stream); }),
              "sgd: count is 0; it must be positive");
    EXPECT_EQ(message([](auto& layers, auto& stream) {
                layers.gather({.images = 1, .image_size = 10, .width = 4}, stream);
              }),
              "gather: rows of 4 pixels do not divide images of 10");
    EXPECT_EQ(message([](auto& layers, auto& stream) {
                layers.loss({.images = 2, .classes = 257}, stream);
              }),
              "loss: 257 classes; labels are bytes, so at most 256 are supported");
    EXPECT_EQ(
        message([](auto& layers, auto& stream) {
          layers.average_pool_forward(
              {.images = 1, .in_h = 2, .in_w = 2, .channels = 1, .kernel_h = 3, .kernel_w = 1},
              stream);
        }),
        "average pooling: the window of 3x1 is larger than the image of 2x2");
    EXPECT_EQ(message([](auto& layers, auto& stream) {
                layers.batch_norm_forward({.rows = std::int64_t{1} << 31, .channels = 2}, stream);
              }),
              "batch norm: an array has more than 2147483647 elements; use a smaller batch");
    GpuConvolution c{
        .images = 2, .in_h = 5, .in_w = 6, .in_c = 1, .out_h = 5, .out_w = 5, .out_c = 1};
    c.kernel = 3;
    c.padding = 1;
    EXPECT_EQ(message([&](auto& layers, auto& stream) { layers.convolution_forward(c, stream); }),
              "convolution: a kernel of 3x3 with stride 1 and padding 1 turns 5x6 pixels into 5x6, "
              "not 5x5");
    c.in_h = 5000;
    EXPECT_EQ(message([&](auto& layers, auto& /*stream*/) { layers.workspace_bytes(c); }),
              "convolution: 5000 pixels along a side; at most 4096 are supported");
  });
}

}  // namespace
}  // namespace lab
