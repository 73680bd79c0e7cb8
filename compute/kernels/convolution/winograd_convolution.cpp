// Convolution by Winograd's F(m x m, 3 x 3): tiles of m x m outputs, (m+2)^2 matrix products whose
// terms are the input channels.
//   forward          per block of tiles: V = B^T d B, M[p] = V[p] * U[p], y = A^T M A
//   input gradient   the same on dy, with the kernels rotated by 180 degrees and channels exchanged
//   weight gradient  dU[p] += (A dY A^T)[p]^T * V[p] over blocks of tiles, dW = G^T dU G
// Work     (m+2)^2 / m^2 instead of 9 multiply-adds per pixel and pair of channels: 4 for m = 2,
//          2.25 for m = 4, and more where tiles extend beyond the image
// Limits   3x3 kernels, stride 1, padding 0 to 2, channels a multiple of 16
// Numerics FP32; with bf16, transformed tiles and kernels are rounded, sums are FP32. See
//          compute/kernels/ops/winograd.h
#include <algorithm>

#include "compute/kernels/convolution/algorithm.h"
#include "compute/kernels/convolution/winograd_parts.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/gemm/gemm_kernels.h"
#include "compute/kernels/ops/vector_ops.h"
#include "compute/kernels/ops/winograd.h"
#include "compute/machine/slice.h"

namespace lab {
namespace {

using simd::ConvShape;
using simd::PointArray;
using simd::WinogradTransforms;
using winograd::Filtering;
using winograd::Image;
using winograd::kGapFloats;
using winograd::kKernelRows;

// Memory of forward and input gradient.
struct FilterMemory {
  winograd::Kernels kernels;
  float* parts = nullptr;
  std::int64_t part_stride = 0;             // floats per thread
  std::int64_t tiles = 0;                   // per block of a thread
  std::int64_t v_stride = 0, m_stride = 0;  // floats between points
  std::int64_t used_bytes = 0;
};

// Memory of the weight gradient. If the sums are small, there are several parts of the batch, each
// with its own sums; a thread has its own tiles for the part at hand. Otherwise there is one part:
// all threads process one block at a time, each on its rows of the sums.
struct WinogradGradientMemory {
  winograd::Gradients products;  // of the first part and thread
  bool shared = false;
  std::int64_t parts = 1;
  std::int64_t tile_floats = 0;  // between the tiles of consecutive threads
  std::int64_t tiles = 0;        // per block
  std::int64_t used_bytes = 0;

  std::int64_t sum_floats() const { return products.points * products.sums_stride; }
  winograd::Gradients of(std::int64_t part, int thread) const {
    winograd::Gradients g = products;
    g.sums += part * sum_floats();
    g.v.data += thread * tile_floats;
    g.d.data += thread * tile_floats;
    return g;
  }
};

class WinogradConvolution final : public ConvolutionAlgorithm {
 public:
  explicit WinogradConvolution(int outputs) : outputs_(outputs) {}

  const char* name() const override { return outputs_ == 2 ? "winograd2" : "winograd4"; }
  bool supports(const ConvolutionCase& c) const override;
  std::int64_t scratch_bytes(const ConvolutionCase& c) const override;
  void forward(const ConvShape& shape, const ConvolutionContext& context, const float* x,
               const float* weight, const float* bias, float* y) const override;
  void input_gradient(const ConvShape& shape, const ConvolutionContext& context, const float* dy,
                      const float* weight, float* dx, bool accumulate) const override;
  void weight_gradient(const ConvShape& shape, const ConvolutionContext& context, const float* x,
                       const float* dy, float* d_weight) const override;

 private:
  struct GradientRun;
  int points() const { return (outputs_ + 2) * (outputs_ + 2); }
  FilterMemory filter_memory(Scratch scratch, const Filtering& f, const ConvolutionCase& c) const;
  WinogradGradientMemory gradient_memory(Scratch scratch, const ConvolutionCase& c) const;
  void transform_kernels(const ConvShape& s, const ConvolutionContext& context, const float* weight,
                         const FilterMemory& memory) const;
  void transform_turned_kernels(const ConvShape& s, const ConvolutionContext& context,
                                const float* weight, const FilterMemory& memory) const;
  void filter(const Filtering& f, const ConvolutionContext& context, const FilterMemory& memory,
              const float* from, const float* bias, bool accumulate, float* to) const;

  const int outputs_;
};

FilterMemory WinogradConvolution::filter_memory(Scratch scratch, const Filtering& f,
                                                const ConvolutionCase& c) const {
  constexpr std::int64_t kBlocksPerThread = 3;
  const TileSize tile = tile_size(c.products);
  FilterMemory m;
  m.kernels = {points(), {c.products, f.from.channels, f.to.channels}};
  // A block of tiles fits in L2; it is larger if the kernels, which are read once per block, are
  // large.
  const std::int64_t from_words = winograd::words_of(c.products, f.from.channels);
  const std::int64_t tile_bytes = points() * (from_words + f.to.channels) * 4;
  const std::int64_t l2 = cache_sizes().l2_bytes;
  const std::int64_t target = std::clamp(m.kernels.words() * 4 / 2, l2 / 2, 8 * l2);
  // In units of rows of the products' tiles:
  const std::int64_t all =
      ceil_div(c.batch * winograd::output_tiles(f.to, outputs_).in_image, tile.rows);
  const std::int64_t fit = std::max<std::int64_t>(target / tile_bytes / tile.rows, 2);
  const std::int64_t fewest = c.threads > 1 && target <= l2 ? kBlocksPerThread : 1;
  m.tiles = piece_for_threads(all, fit, c.threads, fewest) * tile.rows;
  // A smaller batch may be cut into larger blocks, which need as much memory.
  const std::int64_t largest = std::min(fit, ceil_div(all, c.threads)) * tile.rows;
  m.v_stride = largest * from_words + kGapFloats;
  m.m_stride = largest * f.to.channels + kGapFloats;
  // Holds transposed taps first, then tiles.
  const std::int64_t for_kernels = 9 * kKernelRows * tile.cols;
  const std::int64_t for_tiles = points() * (m.v_stride + m.m_stride);
  m.part_stride = ceil_div(std::max(for_tiles, for_kernels), 16) * 16;
  ScratchCursor cursor(scratch);
  m.kernels.first.data = cursor.take<float>(m.kernels.words());
  m.parts = cursor.take<float>(m.part_stride * c.threads);
  m.used_bytes = cursor.used_bytes();
  return m;
}

// The sizes that determine the order of the sums do not depend on the threads.
WinogradGradientMemory WinogradConvolution::gradient_memory(Scratch scratch,
                                                            const ConvolutionCase& c) const {
  constexpr std::int64_t kAllSums_bytes = 8 << 20;
  constexpr std::int64_t kBlock_bytes = 768 << 10, kSmallest = 4 << 20, kLargest = 40 << 20;
  const ConvShape& s = c.shape;
  const int strip = tile_size(c.products).cols;
  WinogradGradientMemory m;
  winograd::Gradients& g = m.products;
  g.products = c.products;
  g.points = points();
  g.inputs = s.in_c;
  g.sums_stride = s.out_c * s.in_c + kGapFloats;
  const std::int64_t sum_bytes = points() * g.sums_stride * 4;
  const std::int64_t all =
      c.batch * winograd::output_tiles({s.out_h, s.out_w, s.out_c}, outputs_).in_image;
  const std::int64_t tile_bytes = points() * winograd::words_of(c.products, s.in_c + s.out_c) * 4;
  // The sums are read and written once per block: the larger they are, the larger the blocks. A
  // thread's own block fits in L2.
  const std::int64_t parts =
      weight_sum_parts(all, ceil_div(kBlock_bytes, tile_bytes), sum_bytes, kAllSums_bytes);
  m.shared = parts == 0;
  m.parts = std::max<std::int64_t>(parts, 1);
  const std::int64_t target =
      m.shared ? std::clamp(4 * sum_bytes, kSmallest, kLargest) : kBlock_bytes;
  m.tiles = std::clamp<std::int64_t>(target / tile_bytes, 1, all);
  const std::int64_t words = winograd::words_of(c.products, m.tiles);
  g.v.form = g.d.form = winograd::form_of_rows(c.products);
  g.v.strip = strip;
  g.v.strip_stride = words * strip;
  g.v.point_stride = ceil_div(s.in_c, strip) * g.v.strip_stride + kGapFloats;
  g.d.strip = s.out_c;
  g.d.point_stride = words * s.out_c + kGapFloats;
  m.tile_floats = points() * (g.v.point_stride + g.d.point_stride);
  ScratchCursor cursor(scratch);
  g.sums = cursor.take<float>(m.sum_floats() * m.parts);
  g.v.data = cursor.take<float>(m.tile_floats * (m.shared ? 1 : c.threads));
  if (g.v.data != nullptr) g.d.data = g.v.data + points() * g.v.point_stride;
  m.used_bytes = cursor.used_bytes();
  return m;
}

bool WinogradConvolution::supports(const ConvolutionCase& c) const {
  const ConvShape& s = c.shape;
  return s.kernel == 3 && s.stride == 1 && s.padding <= 2 &&
         s.in_c % simd::kWinogradChannels == 0 && s.out_c % simd::kWinogradChannels == 0;
}

std::int64_t WinogradConvolution::scratch_bytes(const ConvolutionCase& c) const {
  switch (c.stage) {
    case ConvolutionStage::Forward:
      return filter_memory({}, winograd::forward_filtering(c.shape), c).used_bytes;
    case ConvolutionStage::InputGradient:
      return filter_memory({}, winograd::backward_filtering(c.shape), c).used_bytes;
    case ConvolutionStage::WeightGradient: break;
  }
  return gradient_memory({}, c).used_bytes;
}

void WinogradConvolution::forward(const ConvShape& s, const ConvolutionContext& context,
                                  const float* x, const float* weight, const float* bias,
                                  float* y) const {
  const Filtering f = winograd::forward_filtering(s);
  const FilterMemory memory =
      filter_memory(context.scratch, f, case_of(s, ConvolutionStage::Forward, context));
  transform_kernels(s, context, weight, memory);
  filter(f, context, memory, x, bias, /*accumulate=*/false, y);
}

void WinogradConvolution::input_gradient(const ConvShape& s, const ConvolutionContext& context,
                                         const float* dy, const float* weight, float* dx,
                                         bool accumulate) const {
  const Filtering f = winograd::backward_filtering(s);
  const FilterMemory memory =
      filter_memory(context.scratch, f, case_of(s, ConvolutionStage::InputGradient, context));
  transform_turned_kernels(s, context, weight, memory);
  filter(f, context, memory, dy, /*bias=*/nullptr, accumulate, dx);
}

// Calls body(thread, channel, row) for each block of the transformed kernels.
template <class Body>
void for_kernel_blocks(const ConvolutionContext& context, const winograd::Kernels& u,
                       const Body& body) {
  const int strip = u.first.tile.cols;
  const std::int64_t in_strip = u.first.k / kKernelRows;
  context.pool.run_parts(u.first.strips() * in_strip, [&](std::int64_t i, int t) {
    body(t, i / in_strip * strip, i % in_strip * kKernelRows);
  });
}

// Forward multiplies by [input, output] channels, but the weights are stored [output, input]: each
// block is transposed first, tap by tap.
void WinogradConvolution::transform_kernels(const ConvShape& s, const ConvolutionContext& context,
                                            const float* weight, const FilterMemory& memory) const {
  const WinogradTransforms& transforms = simd::winograd_transforms(outputs_);
  const winograd::Kernels& u = memory.kernels;
  const int width = u.first.tile.cols;
  const std::int64_t tap_floats = kKernelRows * width;
  for_kernel_blocks(context, u, [&](int t, std::int64_t o, std::int64_t i) {
    float* taps = memory.parts + t * memory.part_stride;  // [9][input channels][strip]
    for (int tap = 0; tap < 9; ++tap) {
      gemm_kernels().pack({.source = weight + (o * 9 + tap) * s.in_c + i,
                           .strip_stride = s.patch(),
                           .k_stride = 1,
                           .k = kKernelRows,
                           .valid = static_cast<int>(std::min<std::int64_t>(width, s.out_c - o)),
                           .width = width,
                           .out = taps + tap * tap_floats});
    }
    transforms.kernel({.data = taps,
                       .rows = kKernelRows,
                       .row_stride = width,
                       .tap_stride = tap_floats,
                       .channels = width},
                      u.block(o, i), 0);
  });
}

// The input gradient multiplies by [output, input] channels, the order in which the weights are
// stored.
void WinogradConvolution::transform_turned_kernels(const ConvShape& s,
                                                   const ConvolutionContext& context,
                                                   const float* weight,
                                                   const FilterMemory& memory) const {
  const WinogradTransforms& transforms = simd::winograd_transforms(outputs_);
  const winograd::Kernels& u = memory.kernels;
  const std::int64_t width = u.first.tile.cols;
  for_kernel_blocks(context, u, [&](int /*thread*/, std::int64_t i, std::int64_t o) {
    transforms.kernel({.data = weight + o * s.patch() + i,
                       .rows = kKernelRows,
                       .row_stride = s.patch(),
                       .tap_stride = s.in_c,
                       .channels = std::min(width, s.in_c - i),
                       .rotated = true},
                      u.block(i, o), 0);
  });
}

void WinogradConvolution::filter(const Filtering& f, const ConvolutionContext& context,
                                 const FilterMemory& memory, const float* from, const float* bias,
                                 bool accumulate, float* to) const {
  const WinogradTransforms& transforms = simd::winograd_transforms(outputs_);
  const simd::TileGrid inputs = winograd::input_tiles(f, outputs_);
  const simd::TileGrid outputs = winograd::output_tiles(f.to, outputs_);
  const std::int64_t all = context.batch * outputs.in_image;
  context.pool.run_parts(ceil_div(all, memory.tiles), [&](std::int64_t block, int t) {
    if (context.stop.stop_requested()) return;
    float* part = memory.parts + t * memory.part_stride;
    const PointArray v{part, memory.v_stride, /*strip_stride=*/0, f.from.channels,
                       winograd::form_of_channels(context.products)};
    const PointArray m{part + points() * memory.v_stride, memory.m_stride, /*strip_stride=*/0,
                       f.to.channels};
    const std::int64_t first = block * memory.tiles;
    const std::int64_t count = std::min(memory.tiles, all - first);
    transforms.input(from, inputs, first, count, v, 0);
    memory.kernels.multiply(v, m, count);
    transforms.output(m, count, bias, accumulate, outputs, first, to);
  });
}

// The sums over tiles in a weight gradient.
struct WinogradConvolution::GradientRun {
  const WinogradConvolution& algorithm;
  const ConvShape& s;
  const ConvolutionContext& context;
  const WinogradGradientMemory& memory;
  const float* x;
  const float* dy;
  const Filtering f = winograd::forward_filtering(s);
  const simd::TileGrid inputs = winograd::input_tiles(f, algorithm.outputs_);
  const simd::TileGrid outputs = winograd::output_tiles(f.to, algorithm.outputs_);
  const std::int64_t all = context.batch * outputs.in_image;

  // Transforms tiles [first + begin, first + end) to rows [begin, end).
  void transform(const winograd::Gradients& g, std::int64_t first, std::int64_t begin,
                 std::int64_t end) const {
    const WinogradTransforms& transforms = simd::winograd_transforms(algorithm.outputs_);
    transforms.input(x, inputs, first + begin, end - begin, g.v, begin);
    transforms.output_gradient(dy, outputs, first + begin, end - begin, g.d, begin);
  }

  void in_parts() const {
    context.pool.run_parts(memory.parts, [&](std::int64_t part, int t) {
      const winograd::Gradients g = memory.of(part, t);
      const Slice mine = slice_of(all, memory.parts, part);
      for (std::int64_t first = mine.begin; first < mine.end; first += memory.tiles) {
        if (context.stop.stop_requested()) return;
        const std::int64_t count = std::min(memory.tiles, mine.end - first);
        transform(g, first, 0, count);
        g.multiply({0, g.row_tiles()}, count, /*accumulate=*/first > mine.begin);
      }
    });
    float* const sums = memory.products.sums;
    context.pool.parallel_for(memory.sum_floats(), 4096, [&](std::int64_t begin, std::int64_t end) {
      simd::sum_arrays(sums + begin, memory.parts, memory.sum_floats(), sums + begin, end - begin);
    });
  }

  void together() const {
    const winograd::Gradients& g = memory.products;
    constexpr int kPiecesPerThread = 8;
    constexpr std::int64_t kPair = 2;  // rows that may share words
    const std::int64_t rows = g.row_tiles();
    const std::int64_t pieces =
        std::min<std::int64_t>(rows, kPiecesPerThread * context.pool.size());
    for (std::int64_t first = 0; first < all; first += memory.tiles) {
      if (context.stop.stop_requested()) return;
      const std::int64_t count = std::min(memory.tiles, all - first);
      context.pool.parallel_for(ceil_div(count, kPair), 1,
                                [&](std::int64_t begin, std::int64_t end) {
                                  transform(g, first, begin * kPair, std::min(count, end * kPair));
                                });
      context.pool.run_parts(pieces, [&](std::int64_t piece, int /*thread*/) {
        g.multiply(slice_of(rows, pieces, piece), count, /*accumulate=*/first > 0);
      });
    }
  }
};

void WinogradConvolution::weight_gradient(const ConvShape& s, const ConvolutionContext& context,
                                          const float* x, const float* dy, float* d_weight) const {
  const WinogradTransforms& transforms = simd::winograd_transforms(outputs_);
  const WinogradGradientMemory memory =
      gradient_memory(context.scratch, case_of(s, ConvolutionStage::WeightGradient, context));
  const GradientRun run{*this, s, context, memory, x, dy};
  if (memory.shared) {
    run.together();
  } else {
    run.in_parts();
  }
  const winograd::Gradients& g = memory.products;
  context.pool.parallel_for(s.out_c, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o) {
      transforms.kernel_gradient(g.sums + o * s.in_c, g.sums_stride, s.in_c,
                                 d_weight + o * s.patch());
    }
  });
}

}  // namespace

const ConvolutionAlgorithm& winograd2_convolution() {
  static const WinogradConvolution algorithm(2);
  return algorithm;
}

const ConvolutionAlgorithm& winograd4_convolution() {
  static const WinogradConvolution algorithm(4);
  return algorithm;
}

}  // namespace lab
