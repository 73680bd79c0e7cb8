// Which tiles the convolutions by wgmma take on a GPU with 132 SMs.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <utility>
#include <vector>

#include "compute/gpu/cuda/layers/convolution/wgmma_convolution.cuh"

namespace lab::cuda {
namespace {

constexpr int kSms = 132;

struct Size {
  int rows = 0, columns = 0;
  bool operator==(const Size&) const = default;
};
void PrintTo(const Size& size, std::ostream* out) {
  *out << size.rows << "x" << size.columns;
}

Size pixel_tile(std::initializer_list<std::int64_t> pixels, std::int64_t channels) {
  Size chosen;
  with_pixel_tile(Precision::BF16, std::vector(pixels), channels, kSms, [&]<class Tile>() {
    chosen = {Tile::kM, Tile::kN};
  });
  return chosen;
}

TEST(WgmmaTiles, LeaveFewestRowsInTurn) {
  EXPECT_EQ(pixel_tile({256 * 7 * 7}, 256), (Size{192, 128}));    // 132 tiles instead of 196
  EXPECT_EQ(pixel_tile({256 * 14 * 14}, 128), (Size{192, 128}));  // 2 * 192 rows as 3 * 128
  EXPECT_EQ(pixel_tile({256 * 4 * 4}, 512), (Size{128, 128}));    // 128 tiles instead of 88
  EXPECT_EQ(pixel_tile({4096, 4096, 4096, 4096}, 256), (Size{128, 128}));  // 2 * 128 rows
  EXPECT_EQ(pixel_tile({256 * 28 * 28}, 64), (Size{128, 64}));
}

struct Layer {
  std::int64_t side, in_c, out_c, kernel;
};
GpuConvolution convolution_of(const Layer& layer, std::int64_t images, Precision precision) {
  return {.images = images,
          .in_h = layer.side,
          .in_w = layer.side,
          .in_c = layer.in_c,
          .out_h = layer.side,
          .out_w = layer.side,
          .out_c = layer.out_c,
          .kernel = layer.kernel,
          .stride = 1,
          .padding = layer.kernel / 2,
          .precision = precision};
}

// The tile and the number of splits of a layer of ResNet-18 at batch 256.
std::pair<Size, int> weight_tile(const Layer& layer) {
  std::pair<Size, int> chosen;
  with_weight_tile(convolution_of(layer, 256, Precision::BF16),
                   [&]<class Tile>(const WeightSplit& split) {
                     chosen = {{Tile::kM, Tile::kN}, split.splits};
                   });
  return chosen;
}

TEST(WgmmaTiles, AddFewSplitsOfManyWeights) {
  EXPECT_EQ(weight_tile({4, 512, 512, 3}), std::pair(Size{128, 192}, 1));
  EXPECT_EQ(weight_tile({14, 128, 128, 3}), std::pair(Size{128, 128}, 14));
  EXPECT_EQ(weight_tile({14, 64, 128, 3}).first, (Size{128, 192}));  // 576 columns
  EXPECT_EQ(weight_tile({4, 256, 512, 1}).first, (Size{128, 128}));
  EXPECT_EQ(weight_tile({14, 64, 128, 1}).first, (Size{128, 64}));
}

// A network prepared for some images also runs fewer, which may take the other tile.
TEST(WgmmaTiles, FewerImagesNeedNoMoreWorkspace) {
  for (const Layer& layer :
       {Layer{4, 512, 1024, 3}, Layer{7, 256, 2048, 3}, Layer{4, 512, 512, 3}}) {
    std::int64_t before = 0;
    for (std::int64_t images = 1; images <= 400; ++images) {
      const GpuConvolution c = convolution_of(layer, images, Precision::TF32);
      const WeightSplit split = wgmma_split(c, kSms);
      EXPECT_LE(split.splits, split.most) << images;
      const std::int64_t bytes = split.partials_bytes(c);
      EXPECT_GE(bytes, before) << images << " images of " << layer.side << "x" << layer.side;
      before = bytes;
    }
  }
}

}  // namespace
}  // namespace lab::cuda
