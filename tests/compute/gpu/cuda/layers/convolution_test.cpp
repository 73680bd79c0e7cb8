#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/tensor/random.h"
#include "compute/tensor/tensor.h"
#include "tests/support/layers_under_test.h"

namespace lab {
namespace {

using test::LayersUnderTest;
using test::Tiles;

struct Case {
  std::int64_t images, in_h, in_w, in_c, out_c, kernel, stride, padding;
};

std::string to_string(const Case& c) {
  return std::to_string(c.images) + "x" + std::to_string(c.in_h) + "x" + std::to_string(c.in_w) +
         "x" + std::to_string(c.in_c) + " to " + std::to_string(c.out_c) + ", kernel " +
         std::to_string(c.kernel) + ", stride " + std::to_string(c.stride) + ", padding " +
         std::to_string(c.padding);
}

GpuConvolution convolution_of(const Case& c, Precision precision) {
  return {.images = c.images,
          .in_h = c.in_h,
          .in_w = c.in_w,
          .in_c = c.in_c,
          .out_h = (c.in_h + 2 * c.padding - c.kernel) / c.stride + 1,
          .out_w = (c.in_w + 2 * c.padding - c.kernel) / c.stride + 1,
          .out_c = c.out_c,
          .kernel = c.kernel,
          .stride = c.stride,
          .padding = c.padding,
          .precision = precision};
}

std::size_t size_of_x(const GpuConvolution& c) {
  return static_cast<std::size_t>(c.images * c.in_h * c.in_w * c.in_c);
}
std::size_t size_of_y(const GpuConvolution& c) {
  return static_cast<std::size_t>(c.images * c.out_h * c.out_w * c.out_c);
}
std::size_t size_of_weight(const GpuConvolution& c) {
  return static_cast<std::size_t>(c.out_c * c.kernel * c.kernel * c.in_c);
}

// No value is halfway between two of lower precision, where GPUs round tf32 differently.
std::vector<float> normal(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  RandomStream{seed, 0}.fill_normal(values);
  for (float& value : values) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | 1);
  return values;
}

float rounded(float value, Precision precision) {
  if (precision == Precision::BF16) return to_float(to_bf16(value));
  if (precision == Precision::F32) return value;
  // To the nearest of 11 significant bits.
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000U) & ~0x1fffU);
}

// A sum in float64, and the sum of the terms' magnitudes, which bounds its error in float32.
struct Sum {
  double value = 0, magnitude = 0;
  std::int64_t terms = 0;

  void add(double term) {
    value += term;
    magnitude += std::abs(term);
    ++terms;
  }
  double tolerance() const { return (static_cast<double>(terms) + 4) * 0x1p-23 * magnitude; }
};
using Sums = std::vector<Sum>;

// A library's algorithms may transform the operands, and round them to tf32 in another way.
double slack_of(LayersUnderTest& gpu, Precision precision, const Sum& sum) {
  if (!gpu.by_library()) return 0;
  return (precision == Precision::F32 ? 0x1p-16 : 0x1p-9) * sum.magnitude;
}

void expect_near(LayersUnderTest& gpu, Precision precision, ConstGpuActivations array,
                 const Sums& expected, const char* what) {
  const std::vector<float> values = gpu.values(array, expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double tolerance = expected[i].tolerance() + slack_of(gpu, precision, expected[i]);
    if (array.is_bf16()) tolerance += 0x1p-8 * std::abs(expected[i].value);
    ASSERT_NEAR(values[i], expected[i].value, tolerance) << what << " " << i;
  }
}

// Whether the layers compute in this precision at all.
bool computes(LayersUnderTest& gpu, Precision precision) {
  return !gpu.layers().unsupported(precision);
}

// Calls product(x, weight, y) with the indices of each product of the convolution.
template <typename Product>
void for_each_product(const GpuConvolution& c, const Product& product) {
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t pixel = 0; pixel < c.images * c.out_h * c.out_w; ++pixel) {
    const std::int64_t n = pixel / (c.out_h * c.out_w);
    const std::int64_t oy = pixel / c.out_w % c.out_h, ox = pixel % c.out_w;
    for (std::int64_t tap = 0; tap < c.kernel * c.kernel; ++tap) {
      const std::int64_t iy = oy * c.stride - c.padding + tap / c.kernel;
      const std::int64_t ix = ox * c.stride - c.padding + tap % c.kernel;
      if (iy < 0 || iy >= c.in_h || ix < 0 || ix >= c.in_w) continue;
      for (std::int64_t o = 0; o < c.out_c; ++o) {
        for (std::int64_t i = 0; i < c.in_c; ++i) {
          product(index(((n * c.in_h + iy) * c.in_w + ix) * c.in_c + i),
                  index((o * c.kernel * c.kernel + tap) * c.in_c + i), index(pixel * c.out_c + o));
        }
      }
    }
  }
}

// Powers of two by which operands are multiplied.
struct Scales {
  float x = 1, weight = 1, dy = 1;
};

std::vector<float> scaled(std::vector<float> values, float scale) {
  for (float& value : values) value *= scale;
  return values;
}

// Operands, and what the three passes must give.
struct Reference {
  DType x_type, y_type;
  std::vector<float> x, weight, bias, dy, dx_before;
  Sums y, dx, dweight, dbias;

  explicit Reference(const GpuConvolution& c, const Scales& scales = {})
      : x_type(c.x.dtype()),
        y_type(c.y.dtype()),
        x(scaled(normal(size_of_x(c), 1), scales.x)),
        weight(scaled(normal(size_of_weight(c), 2), scales.weight)),
        bias(normal(static_cast<std::size_t>(c.out_c), 3)),
        dy(scaled(normal(size_of_y(c), 4), scales.dy)),
        dx_before(normal(x.size(), 5)),
        y(dy.size()),
        dx(x.size()),
        dweight(weight.size()),
        dbias(bias.size()) {
    const auto round = [](std::vector<float>& values, DType dtype) {
      for (float& value : values) value = LayersUnderTest::rounded_to(value, dtype);
    };
    round(x, x_type);
    round(dx_before, x_type);
    round(dy, y_type);
    const auto of = [&](float value) { return double{rounded(value, c.precision)}; };
    for_each_product(c, [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) {
      y[at_y].add(of(x[at_x]) * of(weight[at_w]));
      dx[at_x].add(of(dy[at_y]) * of(weight[at_w]));
      dweight[at_w].add(of(dy[at_y]) * of(x[at_x]));
    });
    for (std::size_t i = 0; i < dy.size(); ++i) dbias[i % bias.size()].add(dy[i]);
  }
};

// As for a larger batch, which the memory of a network is made for.
void add_memory(LayersUnderTest& gpu, GpuConvolution& c) {
  GpuConvolution larger = c;
  ++larger.images;
  c.workspace_bytes = gpu.layers().workspace_bytes(larger);
  c.workspace = gpu.output<std::byte>("workspace", static_cast<std::size_t>(c.workspace_bytes));
  c.kept = gpu.output<std::byte>("kept", static_cast<std::size_t>(gpu.layers().kept_bytes(larger)));
}

// With both arrays in bf16 also rounded, as a network keeps it.
void give_weight(LayersUnderTest& gpu, const Reference& reference, GpuConvolution& c) {
  c.weight = gpu.input("weight", reference.weight);
  if (reference.x_type == DType::F32 || reference.y_type == DType::F32) return;
  c.bf16_weight = gpu.input("bf16 weight", reference.weight, DType::BF16).bf16();
}

// Gives x, weight and y, and runs the forward pass if the gradients need what it keeps.
void prepare_gradients(LayersUnderTest& gpu, const Reference& reference, GpuConvolution& c) {
  c.x = gpu.input("x", reference.x, reference.x_type);
  give_weight(gpu, reference, c);
  c.y = gpu.output("y", reference.y.size(), reference.y_type);
  add_memory(gpu, c);
  if (gpu.layers().kept_bytes(c) > 0) gpu.layers().convolution_forward(c, gpu.stream());
}

std::uint32_t largest_bits(const std::vector<float>& values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::abs(value));
  return std::bit_cast<std::uint32_t>(most);
}

// As a batch norm does.
void give_largest(LayersUnderTest& gpu, const Reference& reference, GpuConvolution& c) {
  c.x_largest = gpu.input<std::uint32_t>("largest of x", {largest_bits(reference.x)});
  c.dy_largest = gpu.input<std::uint32_t>("largest of dy", {largest_bits(reference.dy)});
}

void check_forward(const GpuConvolution& sizes, const Reference& reference, bool bias,
                   Tiles tiles) {
  test::on_layers(tiles, [&](LayersUnderTest& gpu) {
    if (!computes(gpu, sizes.precision)) return;
    GpuConvolution c = sizes;
    c.x = gpu.input("x", reference.x, reference.x_type);
    give_weight(gpu, reference, c);
    if (bias) c.bias = gpu.input("bias", reference.bias);
    if (bias) give_largest(gpu, reference, c);
    c.y = gpu.output("y", reference.y.size(), reference.y_type);
    add_memory(gpu, c);
    gpu.layers().convolution_forward(c, gpu.stream());
    Sums expected = reference.y;
    for (std::size_t i = 0; bias && i < expected.size(); ++i) {
      expected[i].add(reference.bias[i % reference.bias.size()]);
    }
    expect_near(gpu, c.precision, c.y, expected, "y");
  });
}

void check_input_gradient(const GpuConvolution& sizes, const Reference& reference, bool accumulate,
                          Tiles tiles) {
  test::on_layers(tiles, [&](LayersUnderTest& gpu) {
    if (!computes(gpu, sizes.precision)) return;
    GpuConvolution c = sizes;
    c.accumulate = accumulate;
    prepare_gradients(gpu, reference, c);
    c.dy = gpu.input("dy", reference.dy, reference.y_type);
    c.dx = accumulate ? gpu.inout("dx", reference.dx_before, reference.x_type)
                      : gpu.output("dx", reference.dx.size(), reference.x_type);
    gpu.layers().convolution_input_gradient(c, gpu.stream());
    Sums expected = reference.dx;
    for (std::size_t i = 0; accumulate && i < expected.size(); ++i) {
      expected[i].add(reference.dx_before[i]);
    }
    expect_near(gpu, c.precision, c.dx, expected, "dx");
  });
}

void check_weight_gradient(const GpuConvolution& sizes, const Reference& reference, bool bias,
                           Tiles tiles) {
  test::on_layers(tiles, [&](LayersUnderTest& gpu) {
    if (!computes(gpu, sizes.precision)) return;
    GpuConvolution c = sizes;
    prepare_gradients(gpu, reference, c);
    c.dy = gpu.input("dy", reference.dy, reference.y_type);
    c.dweight = gpu.output<float>("dweight", reference.dweight.size());
    if (bias) c.dbias = gpu.output<float>("dbias", reference.dbias.size());
    if (bias) give_largest(gpu, reference, c);
    gpu.layers().convolution_weight_gradient(c, gpu.stream());
    if (bias && gpu.layers().gradients_are_independent(c)) {
      gpu.layers().convolution_bias_gradient(c, gpu.stream());
    }
    // As in a step of training.
    c.dx = gpu.output("dx", reference.dx.size(), reference.x_type);
    c.after_weight_gradient = true;
    gpu.layers().convolution_input_gradient(c, gpu.stream());
    if (bias && !gpu.layers().gradients_are_independent(c)) {
      gpu.layers().convolution_bias_gradient(c, gpu.stream());
    }
    expect_near(gpu, c.precision, c.dx, reference.dx, "dx after dweight");
    expect_near(gpu, c.precision, c.dweight, reference.dweight, "dweight");
    if (bias) expect_near(gpu, c.precision, c.dbias, reference.dbias, "dbias");
  });
}

// Types of arrays that do not exist yet.
struct Types {
  DType x = DType::F32, y = DType::F32;
};

void check_all(const Case& one, Precision precision, bool options, Tiles tiles = Tiles::Chosen,
               const Scales& scales = {}, const Types& types = {}) {
  SCOPED_TRACE(to_string(one) + " " + to_string(precision) + ", x " + to_string(types.x) + ", y " +
               to_string(types.y));
  GpuConvolution sizes = convolution_of(one, precision);
  sizes.x = {nullptr, types.x};
  sizes.y = {nullptr, types.y};
  const Reference reference(sizes, scales);
  check_forward(sizes, reference, options, tiles);
  check_input_gradient(sizes, reference, options, tiles);
  check_weight_gradient(sizes, reference, options, tiles);
}

constexpr Case kRagged[] = {
    {1, 5, 5, 1, 3, 3, 1, 1},   {2, 7, 6, 3, 5, 3, 2, 1}, {3, 5, 4, 5, 8, 1, 1, 0},
    {1, 5, 7, 8, 13, 3, 2, 0},  {2, 9, 8, 1, 6, 5, 1, 2}, {7, 1, 1, 13, 10, 1, 1, 0},
    {4, 4, 4, 8, 20, 3, 1, 1},  {2, 5, 5, 4, 4, 1, 2, 0}, {1, 8, 7, 4, 20, 3, 3, 1},
    {2, 3, 3, 20, 17, 3, 2, 1}, {1, 6, 6, 4, 8, 5, 2, 2}, {1, 4, 4, 2, 2, 1, 3, 0},
};

TEST(LayersConvolution, AgreesWithFloat64OnRaggedSizes) {
  LAB_REQUIRE_LAYERS();
  bool options = false;
  for (const Case& one : kRagged) check_all(one, Precision::F32, options = !options);
}

TEST(LayersConvolution, RoundsOperandsToThePrecision) {
  LAB_REQUIRE_LAYERS();
  bool options = false;
  for (const Precision precision : {Precision::TF32, Precision::BF16}) {
    for (const Case& one : kRagged) check_all(one, precision, options = !options);
  }
}

TEST(LayersConvolution, ComputesLargerTiles) {
  LAB_REQUIRE_LAYERS();
  for (const Precision precision : {Precision::F32, Precision::TF32, Precision::BF16}) {
    check_all({5, 6, 5, 8, 132, 1, 1, 0}, precision, true, Tiles::Large);
    check_all({3, 7, 7, 12, 8, 3, 2, 1}, precision, false, Tiles::Large);
    check_all({1, 13, 10, 4, 32, 3, 1, 1}, precision, false, Tiles::Medium);
  }
  for (const Tiles tiles : {Tiles::Narrow, Tiles::Small}) {
    check_all({2, 9, 8, 1, 6, 5, 1, 2}, Precision::F32, true, tiles);
    check_all({3, 7, 7, 12, 20, 3, 2, 1}, Precision::F32, false, tiles);
  }
}

// Channels in multiples of 64, which wgmma computes where a GPU has it: tiles beyond the first, two
// splits of the pixels, taps outside the images, phases without taps, more phases than a launch
// has.
TEST(LayersConvolution, ComputesWholeBoxesOfChannels) {
  LAB_REQUIRE_LAYERS();
  check_all({1, 24, 24, 64, 64, 2, 1, 0}, Precision::BF16, true, Tiles::Wgmma);
  bool options = false;
  for (const Case& one : {Case{2, 7, 5, 64, 128, 3, 2, 1}, Case{1, 5, 5, 128, 64, 3, 1, 1},
                          Case{1, 7, 7, 64, 64, 2, 3, 0}, Case{3, 3, 4, 64, 192, 2, 1, 1},
                          Case{9, 9, 8, 64, 64, 3, 1, 1}}) {
    for (const Precision precision : {Precision::BF16, Precision::TF32}) {
      check_all(one, precision, options = !options, Tiles::Wgmma);
    }
  }
}

// Activations in bf16, where wgmma computes them: by strips and by tiles, with one tap, and mixed
// with arrays in FP32.
TEST(LayersConvolution, ComputesBf16Activations) {
  LAB_REQUIRE_LAYERS();
  constexpr DType kF32 = DType::F32, kBf16 = DType::BF16;
  test::on_layers(Tiles::Wgmma, [](LayersUnderTest& gpu) {
    const GpuConvolution c = convolution_of({1, 4, 4, 64, 64, 1, 1, 0}, Precision::BF16);
    if (!gpu.layers().takes_bf16(c)) GTEST_SKIP() << "this GPU's layers take no bf16 arrays";
  });
  if (testing::Test::IsSkipped()) return;
  bool options = false;
  for (const Case& one : {Case{3, 9, 8, 64, 64, 3, 1, 1}, Case{2, 7, 5, 64, 128, 3, 2, 1},
                          Case{2, 5, 6, 128, 64, 1, 2, 0}, Case{1, 6, 5, 64, 192, 1, 1, 0}}) {
    for (const Types& types : {Types{kBf16, kBf16}, Types{kF32, kBf16}, Types{kBf16, kF32}}) {
      check_all(one, Precision::BF16, options = !options, Tiles::Wgmma, {}, types);
    }
  }
  check_all({2, 6, 7, 64, 64, 3, 1, 1}, Precision::BF16, true, Tiles::Wgmma, {}, {kBf16, kBf16});
  // Blocks that compute several tiles, and tall ones.
  check_all({6, 8, 8, 128, 128, 2, 1, 0}, Precision::BF16, true, Tiles::Wgmma, {}, {kBf16, kBf16});
}

// Kernels that read FP32 refuse them.
TEST(LayersConvolution, RefusesBf16ActivationsThatItDoesNotTake) {
  LAB_REQUIRE_LAYERS();
  test::on_layers(Tiles::Chosen, [](LayersUnderTest& gpu) {
    GpuConvolution c = convolution_of({1, 4, 4, 8, 8, 3, 1, 1}, Precision::F32);
    ASSERT_FALSE(gpu.layers().takes_bf16(c));
    c.x = {nullptr, DType::BF16};
    try {
      gpu.layers().convolution_forward(c, gpu.stream());
      FAIL() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::InvalidArgument) << e.what();
    }
  });
}

// What the copy engine's maps cannot describe is computed by the portable kernels, in FP32 arrays.
TEST(LayersConvolution, TakesNoBf16BeyondTheLimitsOfTheCopyEngine) {
  LAB_REQUIRE_LAYERS();
  constexpr Case kFar{1, 12, 12, 64, 64, 2, 9, 0};
  test::on_layers(Tiles::Wgmma, [&](LayersUnderTest& gpu) {
    EXPECT_FALSE(gpu.layers().takes_bf16(convolution_of(kFar, Precision::BF16)));
    EXPECT_FALSE(
        gpu.layers().takes_bf16(convolution_of({1, 20, 20, 64, 64, 17, 1, 0}, Precision::BF16)));
  });
  check_all(kFar, Precision::BF16, true, Tiles::Wgmma);
}

// The range of tf32, where it is computed by FP16 with a scale: the products of the smallest and
// the largest operands, and operands that are zero.
TEST(LayersConvolution, ComputesTf32OfAnyScale) {
  LAB_REQUIRE_LAYERS();
  const Case one{1, 3, 4, 64, 64, 3, 1, 1};
  check_all(one, Precision::TF32, false, Tiles::Wgmma, {.x = 0x1p80F, .weight = 0x1p-85F});
  check_all(one, Precision::TF32, false, Tiles::Wgmma, {.x = 0x1p-60F, .dy = 0x1p120F});
  check_all(one, Precision::TF32, false, Tiles::Wgmma, {.x = 0, .dy = 0x1p-70F});
}

// Enough pixels for more partial sums of the weight gradient than one block adds by itself.
TEST(LayersConvolution, AddsManySplits) {
  LAB_REQUIRE_LAYERS();
  check_all({9, 23, 24, 2, 5, 3, 1, 1}, Precision::F32, true);
}

// An x that begins 4 bytes past a multiple of 16, which the lab's kernels accept, with any
// channels.
void check_unaligned(const Case& one, Precision precision, Tiles tiles) {
  const GpuConvolution sizes = convolution_of(one, precision);
  const Reference reference(sizes);
  std::vector<float> shifted = {0};
  shifted.insert(shifted.end(), reference.x.begin(), reference.x.end());
  test::on_layers(tiles, [&](LayersUnderTest& gpu) {
    if (gpu.by_library()) return;
    GpuConvolution c = sizes;
    c.x = gpu.input("x", shifted) + 1;
    c.weight = gpu.input("weight", reference.weight);
    c.y = gpu.output<float>("y", reference.y.size());
    c.dy = gpu.input("dy", reference.dy);
    c.dweight = gpu.output<float>("dweight", reference.dweight.size());
    add_memory(gpu, c);
    gpu.layers().convolution_forward(c, gpu.stream());
    expect_near(gpu, c.precision, c.y, reference.y, "y");
    gpu.layers().convolution_weight_gradient(c, gpu.stream());
    expect_near(gpu, c.precision, c.dweight, reference.dweight, "dweight");
  });
}

TEST(LayersConvolution, AcceptsUnalignedArrays) {
  LAB_REQUIRE_LAYERS();
  check_unaligned({1, 4, 4, 4, 8, 3, 1, 1}, Precision::F32, Tiles::Chosen);
  check_unaligned({1, 5, 4, 64, 64, 3, 1, 1}, Precision::BF16, Tiles::Wgmma);
}

TEST(LayersConvolution, UsesTheWorkspaceOfALargerBatch) {
  LAB_REQUIRE_LAYERS();
  test::on_layers(Tiles::Chosen, [](LayersUnderTest& gpu) {
    if (gpu.by_library()) return;  // it chooses algorithms that fit into the given workspace
    for (const Precision precision : {Precision::F32, Precision::BF16}) {
      for (const std::int64_t channels : {12, 64, 512}) {
        std::int64_t before = 0;
        for (std::int64_t images = 1; images < 3000; images = images * 3 / 2 + 1) {
          const GpuConvolution c =
              convolution_of({images, 14, 14, 64, channels, 3, 1, 1}, precision);
          EXPECT_GE(gpu.layers().workspace_bytes(c), before) << images << " " << channels;
          before = gpu.layers().workspace_bytes(c);
        }
      }
    }
  });
}

}  // namespace
}  // namespace lab
