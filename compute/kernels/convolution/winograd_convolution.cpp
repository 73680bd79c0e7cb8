// Convolution by Winograd's F(m x m, 3 x 3): tiles of m x m outputs, (m+2)^2 matrix products whose
// terms are the input channels.
//   forward          V = B^T d B, M[p] = V[p] * U[p], y = A^T M A; per block of tiles, or per few
//                    output channels
//   input gradient   the same on dy, with the kernels rotated by 180 degrees and channels exchanged
//   weight gradient  dU[p] += (A dY A^T)[p]^T * V[p] over blocks of tiles, dW = G^T dU G, or dW +=
//                    G^T dU G for each block
// Work     (m+2)^2 / m^2 instead of 9 multiply-adds per pixel and pair of channels: 4 for m = 2,
//          2.25 for m = 4, and more where tiles extend beyond the image
// Limits   3x3 kernels, stride 1, padding 0 to 2, channels a multiple of 16
// Numerics FP32; with bf16, transformed tiles and kernels are rounded, sums are FP32. See
//          compute/kernels/ops/winograd.h
#include <hwy/cache_control.h>

#include <algorithm>
#include <numeric>

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

constexpr std::int64_t kPair = 2;  // tiles that may share words

// Arrays up to this size are taken to stay in L3. Not that of this machine, on which results would
// depend.
constexpr std::int64_t kL3_bytes = 16 << 20;

// The kernels of a filtering, as they are stored: [output, tap, input] channels.
struct KernelSource {
  const ConvShape& s;
  const WinogradTransforms& transforms;
  const float* weight;
  bool turned;  // rotated by 180 degrees, from output to input channels

  // Transforms the kernels to one strip of channels, from `to` on, from kKernelRows channels, from
  // `from` on. `taps` is work memory of taps_floats().
  void transform(std::int64_t to, std::int64_t from, const PointArray& block, float* taps) const;
  static std::int64_t taps_floats(std::int64_t strip) { return 9 * kKernelRows * strip; }
};

// Products need [from, to] channels. The weights of forward are the other way round: each block is
// transposed first, tap by tap. Its rows are one cache line each and pages apart, so those of the
// next block are prefetched.
void KernelSource::transform(std::int64_t to, std::int64_t from, const PointArray& block,
                             float* taps) const {
  const std::int64_t width = block.strip;
  if (turned) {
    transforms.kernel({.data = weight + from * s.patch() + to,
                       .rows = kKernelRows,
                       .row_stride = s.patch(),
                       .tap_stride = s.in_c,
                       .channels = std::min(width, s.in_c - to),
                       .rotated = true},
                      block, 0);
    return;
  }
  const std::int64_t tap_floats = kKernelRows * width;
  const int valid = tile_part(s.out_c, to, static_cast<int>(width));
  for (int tap = 0; tap < 9; ++tap) {
    const float* const source = weight + (to * 9 + tap) * s.in_c + from;
    if (from + kKernelRows < s.in_c) {
      for (int i = 0; i < valid; ++i) hwy::Prefetch(source + i * s.patch() + kKernelRows);
    }
    gemm_kernels().pack({.source = source,
                         .strip_stride = s.patch(),
                         .k_stride = 1,
                         .k = kKernelRows,
                         .valid = valid,
                         .width = static_cast<int>(width),
                         .out = taps + tap * tap_floats});
  }
  transforms.kernel({.data = taps,
                     .rows = kKernelRows,
                     .row_stride = width,
                     .tap_stride = tap_floats,
                     .channels = width},
                    block, 0);
}

// Memory of forward and input gradient.
struct FilterMemory {
  // Either all kernels are transformed first, or, if they are many and tiles are few, all tiles
  // are, and each thread transforms and multiplies the kernels of a few channels at a time, in L2.
  bool by_channels = false;
  winograd::Kernels kernels;  // all, or those that a thread multiplies at once
  float* v = nullptr;         // all tiles, if they are transformed first
  float* parts = nullptr;
  std::int64_t part_stride = 0;        // floats per thread
  std::int64_t taps_at = 0, m_at = 0;  // floats, in a part
  std::int64_t tiles = 0;  // per block of a thread, which has all of them if by_channels
  std::int64_t v_stride = 0, m_stride = 0;  // floats between points
  std::int64_t used_bytes = 0;
};

// How a weight gradient is summed over the tiles.
enum class GradientSums {
  PerPart,  // a few sums: each part of the batch has its own; a thread has its own block of tiles
  Shared,   // more: all threads work on a block of tiles, each on its rows of the sums
  PerUnit,  // too many for L3: likewise, but a thread keeps the sums of a few channels in L2 and
            // adds them to the weight gradient at once, because the transform is linear
};

struct WinogradGradientMemory {
  GradientSums order = GradientSums::PerPart;
  winograd::Gradients products;  // of the first thread
  winograd::Sums sums;           // the first of the arrays
  std::int64_t sum_arrays = 1;   // one per part, or per thread
  std::int64_t sum_floats = 0;   // of each
  // The unit of work of the threads that share a block.
  std::int64_t unit_points = 0, unit_outputs = 0, unit_inputs = 0;
  std::int64_t tile_floats = 0;  // between the tiles of consecutive threads
  std::int64_t tiles = 0;        // per block
  std::int64_t used_bytes = 0;

  winograd::Gradients of_thread(int thread) const {
    winograd::Gradients g = products;
    g.v.data += thread * tile_floats;
    g.d.data += thread * tile_floats;
    return g;
  }
  winograd::Sums sums_of(std::int64_t array) const {
    winograd::Sums s = sums;
    s.data += array * sum_floats;
    return s;
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
  std::int64_t filter_bytes(const Filtering& f, const ConvolutionCase& c) const;
  FilterMemory filter_memory(Scratch scratch, const Filtering& f, const ConvolutionCase& c) const;
  FilterMemory plan_by_tiles(const Filtering& f, const ConvolutionCase& c) const;
  FilterMemory plan_by_channels(const Filtering& f, const ConvolutionCase& c) const;
  std::int64_t tiles_of(const Image& image, std::int64_t batch) const {
    return batch * winograd::output_tiles(image, outputs_).in_image;
  }
  WinogradGradientMemory gradient_memory(Scratch scratch, const ConvolutionCase& c) const;
  void choose_units(WinogradGradientMemory& m, const ConvolutionCase& c) const;
  struct FilterRun;

  const int outputs_;
};

// The most tiles that are computed by channels.
constexpr std::int64_t kFewTiles = 96;

FilterMemory WinogradConvolution::filter_memory(Scratch scratch, const Filtering& f,
                                                const ConvolutionCase& c) const {
  constexpr std::int64_t kManyChannels = 256;  // enough for many threads
  const winograd::Kernels kernels{points(), {c.products, f.from.channels, f.to.channels}};
  const bool by_channels = kernels.words() * 4 > kL3_bytes && f.to.channels >= kManyChannels &&
                           tiles_of(f.to, c.batch) <= kFewTiles;
  FilterMemory m = by_channels ? plan_by_channels(f, c) : plan_by_tiles(f, c);
  ScratchCursor cursor(scratch);
  if (by_channels) {
    m.v = cursor.take<float>(points() * m.v_stride);
  } else {
    m.kernels.first.data = cursor.take<float>(m.kernels.words());
  }
  m.parts = cursor.take<float>(m.part_stride * c.threads);
  m.used_bytes = cursor.used_bytes();
  return m;
}

// Enough for smaller batches, too, of which the largest that is computed by channels may need more.
std::int64_t WinogradConvolution::filter_bytes(const Filtering& f, const ConvolutionCase& c) const {
  ConvolutionCase few = c;
  few.batch = std::min(c.batch, kFewTiles / tiles_of(f.to, 1));
  const std::int64_t bytes = filter_memory({}, f, c).used_bytes;
  return few.batch < 1 ? bytes : std::max(bytes, filter_memory({}, f, few).used_bytes);
}

FilterMemory WinogradConvolution::plan_by_tiles(const Filtering& f,
                                                const ConvolutionCase& c) const {
  constexpr std::int64_t kBlocksPerThread = 3;
  FilterMemory m;
  m.kernels = {points(), {c.products, f.from.channels, f.to.channels}};
  const TileSize tile = tile_size(c.products);
  // A block of tiles fits in L2; it is larger if the kernels, which are read once per block, are
  // large.
  const std::int64_t from_words = winograd::words_of(c.products, f.from.channels);
  const std::int64_t tile_bytes = points() * (from_words + f.to.channels) * 4;
  const std::int64_t l2 = cache_sizes().l2_bytes;
  const std::int64_t target = std::clamp(m.kernels.words() * 4 / 2, l2 / 2, 8 * l2);
  // In units of rows of the products' tiles:
  const std::int64_t all = ceil_div(tiles_of(f.to, c.batch), tile.rows);
  const std::int64_t fit = std::max<std::int64_t>(target / tile_bytes / tile.rows, 2);
  const std::int64_t fewest = c.threads > 1 && target <= l2 ? kBlocksPerThread : 1;
  m.tiles = piece_for_threads(all, fit, c.threads, fewest) * tile.rows;
  // A smaller batch may be cut into larger blocks, which need as much memory.
  const std::int64_t largest = std::min(fit, ceil_div(all, c.threads)) * tile.rows;
  m.v_stride = largest * from_words + kGapFloats;
  m.m_stride = largest * f.to.channels + kGapFloats;
  // Holds transposed taps first, then tiles.
  m.m_at = points() * m.v_stride;
  const std::int64_t for_tiles = m.m_at + points() * m.m_stride;
  m.part_stride = ceil_div(std::max(for_tiles, KernelSource::taps_floats(tile.cols)), 16) * 16;
  return m;
}

// The terms that are multiplied at once determine the order of the sums, which does not depend on
// the threads or caches.
FilterMemory WinogradConvolution::plan_by_channels(const Filtering& f,
                                                   const ConvolutionCase& c) const {
  constexpr std::int64_t kChannels = 32, kKernels_bytes = 320 << 10;
  const TileSize tile = tile_size(c.products);
  const std::int64_t channels = std::max<std::int64_t>(kChannels / tile.cols, 1) * tile.cols;
  const std::int64_t rows_bytes =
      points() * winograd::words_of(c.products, kKernelRows) * channels * 4;
  const std::int64_t terms = std::max<std::int64_t>(kKernels_bytes / rows_bytes, 1) * kKernelRows;
  FilterMemory m;
  m.by_channels = true;
  m.kernels = {points(), {c.products, std::min(f.from.channels, terms), channels}};
  m.tiles = tiles_of(f.to, c.batch);
  m.v_stride = m.tiles * winograd::words_of(c.products, f.from.channels) + kGapFloats;
  m.m_stride = m.tiles * channels + kGapFloats;
  m.taps_at = ceil_div(m.kernels.words(), 16) * 16;
  m.m_at = m.taps_at + ceil_div(KernelSource::taps_floats(tile.cols), 16) * 16;
  m.part_stride = ceil_div(m.m_at + points() * m.m_stride, 16) * 16;
  return m;
}

// Several units for each thread. Their sums do not depend on their size.
void WinogradConvolution::choose_units(WinogradGradientMemory& m, const ConvolutionCase& c) const {
  constexpr std::int64_t kUnitsPerThread = 8;
  const TileSize tile = tile_size(c.products);
  const std::int64_t units = kUnitsPerThread * c.threads;
  if (m.order != GradientSums::PerUnit) {
    const std::int64_t row_tiles = ceil_div(c.shape.out_c, tile.rows);
    m.unit_outputs = ceil_div(row_tiles, ceil_div(units, points())) * tile.rows;
    m.unit_inputs = c.shape.in_c;
    m.unit_points = 1;
    return;
  }
  // One strip of D, with whole rows of tiles and whole vectors.
  constexpr std::int64_t kOutputs = 48;
  static_assert(kOutputs % simd::kWinogradChannels == 0);
  m.unit_outputs = std::lcm<std::int64_t>(kOutputs, tile.rows);
  m.unit_points = points();
  const std::int64_t l2_floats =
      cache_sizes().l2_bytes * 3 / 4 / 4;  // V and D pass through the rest
  const std::int64_t fit = l2_floats / points() / m.unit_outputs / tile.cols;
  const std::int64_t strips = ceil_div(c.shape.in_c, tile.cols);
  const std::int64_t for_threads = strips * ceil_div(c.shape.out_c, m.unit_outputs) / units;
  m.unit_inputs = std::clamp<std::int64_t>(std::min(fit, for_threads), 1, strips) * tile.cols;
}

// The sizes that determine the order of the sums do not depend on the threads or caches.
WinogradGradientMemory WinogradConvolution::gradient_memory(Scratch scratch,
                                                            const ConvolutionCase& c) const {
  constexpr std::int64_t kAllSums_bytes = 8 << 20;
  constexpr std::int64_t kOwnBlock_bytes = 768 << 10;  // fits in L2
  constexpr std::int64_t kSmallest = 4 << 20, kLargest = 40 << 20;
  const ConvShape& s = c.shape;
  const int strip = tile_size(c.products).cols;
  const std::int64_t point_sums = s.out_c * s.in_c + kGapFloats;
  const std::int64_t sum_bytes = points() * point_sums * 4;
  const std::int64_t all = tiles_of({s.out_h, s.out_w, s.out_c}, c.batch);
  const std::int64_t tile_bytes = points() * winograd::words_of(c.products, s.in_c + s.out_c) * 4;
  const std::int64_t parts =
      weight_sum_parts(all, ceil_div(kOwnBlock_bytes, tile_bytes), sum_bytes, kAllSums_bytes);
  WinogradGradientMemory m;
  if (parts == 0) {
    m.order = sum_bytes <= kL3_bytes ? GradientSums::Shared : GradientSums::PerUnit;
  }
  const bool per_part = m.order == GradientSums::PerPart;
  const bool per_unit = m.order == GradientSums::PerUnit;
  choose_units(m, c);
  // Shared sums are read and written once per block.
  const std::int64_t target = per_part   ? kOwnBlock_bytes
                              : per_unit ? kL3_bytes
                                         : std::clamp(4 * sum_bytes, kSmallest, kLargest);
  m.tiles = std::clamp<std::int64_t>(target / tile_bytes, 1, all);
  const std::int64_t words = winograd::words_of(c.products, m.tiles);
  winograd::Gradients& g = m.products;
  g.products = c.products;
  g.v.form = g.d.form = winograd::form_of_rows(c.products);
  g.v.strip = strip;
  g.v.strip_stride = words * strip;
  g.v.point_stride = ceil_div(s.in_c, strip) * g.v.strip_stride + kGapFloats;
  g.d.strip = per_unit ? m.unit_outputs : s.out_c;
  g.d.strip_stride = words * g.d.strip;
  g.d.point_stride = ceil_div(s.out_c, g.d.strip) * g.d.strip_stride + kGapFloats;
  m.tile_floats = points() * (g.v.point_stride + g.d.point_stride);
  m.sums.output_stride = m.unit_inputs;
  m.sums.point_stride = per_unit ? m.unit_outputs * m.unit_inputs + kGapFloats : point_sums;
  m.sum_floats = points() * m.sums.point_stride;
  m.sum_arrays = per_part ? parts : per_unit ? c.threads : 1;
  ScratchCursor cursor(scratch);
  m.sums.data = cursor.take<float>(m.sum_floats * m.sum_arrays);
  g.v.data = cursor.take<float>(m.tile_floats * (per_part ? c.threads : 1));
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
    case ConvolutionStage::Forward: return filter_bytes(winograd::forward_filtering(c.shape), c);
    case ConvolutionStage::InputGradient:
      return filter_bytes(winograd::backward_filtering(c.shape), c);
    case ConvolutionStage::WeightGradient: break;
  }
  return gradient_memory({}, c).used_bytes;
}

// Forward or input gradient.
struct WinogradConvolution::FilterRun {
  const WinogradConvolution& algorithm;
  const Filtering& f;
  const KernelSource& source;
  const ConvolutionContext& context;
  const FilterMemory& memory;
  const float* from;
  const float* bias;
  bool accumulate;
  float* to;
  const simd::TileGrid inputs = winograd::input_tiles(f, algorithm.outputs_);
  const simd::TileGrid outputs = winograd::output_tiles(f.to, algorithm.outputs_);
  const std::int64_t all = context.batch * outputs.in_image;
  const std::int64_t from_words = winograd::words_of(context.products, f.from.channels);

  float* part(int thread) const { return memory.parts + thread * memory.part_stride; }
  PointArray v(float* data) const {
    return {data, memory.v_stride, /*strip_stride=*/0, f.from.channels,
            winograd::form_of_channels(context.products)};
  }

  void by_tiles() const {
    const winograd::Kernels& u = memory.kernels;
    const int strip = u.first.tile.cols;
    const std::int64_t in_strip = u.first.k / kKernelRows;
    context.pool.run_parts(u.first.strips() * in_strip, [&](std::int64_t i, int t) {
      const std::int64_t channel = i / in_strip * strip, row = i % in_strip * kKernelRows;
      source.transform(channel, row, u.block(channel, row), part(t));
    });
    context.pool.run_parts(ceil_div(all, memory.tiles), [&](std::int64_t block, int t) {
      if (context.stop.stop_requested()) return;
      const PointArray tiles = v(part(t));
      const PointArray m{part(t) + memory.m_at, memory.m_stride, /*strip_stride=*/0, f.to.channels};
      const std::int64_t first = block * memory.tiles;
      const std::int64_t count = std::min(memory.tiles, all - first);
      source.transforms.input(from, inputs, first, count, tiles, 0);
      u.multiply(tiles, from_words, m, count, /*accumulate=*/false);
      source.transforms.output(m, count, bias, accumulate, outputs, first, to);
    });
  }

  void by_channels() const {
    const PointArray tiles = v(memory.v);
    context.pool.parallel_for(all, 1, [&](std::int64_t begin, std::int64_t end) {
      source.transforms.input(from, inputs, begin, end - begin, tiles, begin);
    });
    const std::int64_t channels = memory.kernels.first.n;
    context.pool.run_parts(ceil_div(f.to.channels, channels), [&](std::int64_t i, int t) {
      if (context.stop.stop_requested()) return;
      filter({i * channels, std::min(f.to.channels, (i + 1) * channels)}, tiles, part(t));
    });
  }

  // Computes some channels from all tiles.
  void filter(Slice channels, PointArray tiles, float* work) const {
    winograd::Kernels u = memory.kernels;
    u.first.data = work;
    u.first.n = channels.end - channels.begin;
    const std::int64_t strip = u.first.tile.cols, most = u.first.k;
    const PointArray m{work + memory.m_at, memory.m_stride, /*strip_stride=*/0,
                       memory.kernels.first.n};
    for (std::int64_t k = 0; k < f.from.channels; k += most) {
      u.first.k = std::min(most, f.from.channels - k);
      for (std::int64_t c = 0; c < u.first.n; c += strip) {
        for (std::int64_t row = 0; row < u.first.k; row += kKernelRows) {
          source.transform(channels.begin + c, k + row, u.block(c, row), work + memory.taps_at);
        }
      }
      u.multiply(tiles, from_words, m, all, /*accumulate=*/k > 0);
      tiles.data += winograd::words_of(context.products, most);
    }
    simd::TileGrid some = outputs;
    some.channels = u.first.n;
    source.transforms.output(m, all, bias == nullptr ? nullptr : bias + channels.begin, accumulate,
                             some, 0, to + channels.begin);
  }

  void run() const {
    if (memory.by_channels) {
      by_channels();
    } else {
      by_tiles();
    }
  }
};

void WinogradConvolution::forward(const ConvShape& s, const ConvolutionContext& context,
                                  const float* x, const float* weight, const float* bias,
                                  float* y) const {
  const Filtering f = winograd::forward_filtering(s);
  const KernelSource source{s, simd::winograd_transforms(outputs_), weight, /*turned=*/false};
  const FilterMemory memory =
      filter_memory(context.scratch, f, case_of(s, ConvolutionStage::Forward, context));
  FilterRun{*this, f, source, context, memory, x, bias, /*accumulate=*/false, y}.run();
}

void WinogradConvolution::input_gradient(const ConvShape& s, const ConvolutionContext& context,
                                         const float* dy, const float* weight, float* dx,
                                         bool accumulate) const {
  const Filtering f = winograd::backward_filtering(s);
  const KernelSource source{s, simd::winograd_transforms(outputs_), weight, /*turned=*/true};
  const FilterMemory memory =
      filter_memory(context.scratch, f, case_of(s, ConvolutionStage::InputGradient, context));
  FilterRun{*this, f, source, context, memory, dy, /*bias=*/nullptr, accumulate, dx}.run();
}

// The sums over tiles in a weight gradient.
struct WinogradConvolution::GradientRun {
  const WinogradConvolution& algorithm;
  const ConvShape& s;
  const ConvolutionContext& context;
  const WinogradGradientMemory& memory;
  const float* x;
  const float* dy;
  float* d_weight;
  const WinogradTransforms& transforms = simd::winograd_transforms(algorithm.outputs_);
  const Filtering f = winograd::forward_filtering(s);
  const simd::TileGrid x_tiles = winograd::input_tiles(f, algorithm.outputs_);
  const simd::TileGrid dy_tiles = winograd::output_tiles(f.to, algorithm.outputs_);
  const std::int64_t all = context.batch * dy_tiles.in_image;

  // Transforms tiles [first + begin, first + end) to rows [begin, end).
  void transform(const winograd::Gradients& g, std::int64_t first, std::int64_t begin,
                 std::int64_t end) const {
    transforms.input(x, x_tiles, first + begin, end - begin, g.v, begin);
    transforms.output_gradient(dy, dy_tiles, first + begin, end - begin, g.d, begin);
  }

  void in_parts() const {
    const std::int64_t parts = memory.sum_arrays;
    const winograd::SumRange everything{{0, algorithm.points()}, {0, s.out_c}, {0, s.in_c}};
    context.pool.run_parts(parts, [&](std::int64_t part, int t) {
      const winograd::Gradients g = memory.of_thread(t);
      const Slice mine = slice_of(all, parts, part);
      for (std::int64_t first = mine.begin; first < mine.end; first += memory.tiles) {
        if (context.stop.stop_requested()) return;
        const std::int64_t count = std::min(memory.tiles, mine.end - first);
        transform(g, first, 0, count);
        g.multiply(everything, count, /*accumulate=*/first > mine.begin, memory.sums_of(part));
      }
    });
    float* const sums = memory.sums.data;
    context.pool.parallel_for(memory.sum_floats, 4096, [&](std::int64_t begin, std::int64_t end) {
      simd::sum_arrays(sums + begin, parts, memory.sum_floats, sums + begin, end - begin);
    });
  }

  void together() const {
    const std::int64_t points = algorithm.points();
    const std::int64_t in_row = ceil_div(s.in_c, memory.unit_inputs);
    const std::int64_t in_point = ceil_div(s.out_c, memory.unit_outputs) * in_row;
    const std::int64_t units = ceil_div(points, memory.unit_points) * in_point;
    const auto unit_of = [](std::int64_t n, std::int64_t size, std::int64_t index) {
      return Slice{index * size, std::min(n, (index + 1) * size)};
    };
    for (std::int64_t first = 0; first < all; first += memory.tiles) {
      if (context.stop.stop_requested()) return;
      const std::int64_t count = std::min(memory.tiles, all - first);
      context.pool.parallel_for(
          ceil_div(count, kPair), 1, [&](std::int64_t begin, std::int64_t end) {
            transform(memory.products, first, begin * kPair, std::min(count, end * kPair));
          });
      context.pool.run_parts(units, [&](std::int64_t unit, int t) {
        const winograd::SumRange range{
            unit_of(points, memory.unit_points, unit / in_point),
            unit_of(s.out_c, memory.unit_outputs, unit % in_point / in_row),
            unit_of(s.in_c, memory.unit_inputs, unit % in_row)};
        sum(range, count, /*accumulate=*/first > 0, t);
      });
    }
  }

  // Sums some of a block's products.
  void sum(const winograd::SumRange& range, std::int64_t count, bool accumulate, int thread) const {
    const winograd::Gradients& g = memory.products;
    if (memory.order == GradientSums::PerUnit) {
      const winograd::Sums sums = memory.sums_of(thread);
      g.multiply(range, count, /*accumulate=*/false, sums);
      finish(range, accumulate, sums);
    } else {
      g.multiply(range, count, accumulate, memory.sums.at(range));
    }
  }

  // Transforms `range` of the sums, with which `sums` begins, to the weight gradient.
  void finish(const winograd::SumRange& range, bool accumulate, const winograd::Sums& sums) const {
    const Slice outputs = range.outputs, inputs = range.inputs;
    for (std::int64_t o = outputs.begin; o < outputs.end; ++o) {
      transforms.kernel_gradient(sums.data + (o - outputs.begin) * sums.output_stride,
                                 sums.point_stride, inputs.end - inputs.begin, accumulate,
                                 d_weight + o * s.patch() + inputs.begin, s.in_c);
    }
  }
};

void WinogradConvolution::weight_gradient(const ConvShape& s, const ConvolutionContext& context,
                                          const float* x, const float* dy, float* d_weight) const {
  const WinogradGradientMemory memory =
      gradient_memory(context.scratch, case_of(s, ConvolutionStage::WeightGradient, context));
  const GradientRun run{*this, s, context, memory, x, dy, d_weight};
  if (memory.order == GradientSums::PerPart) {
    run.in_parts();
  } else {
    run.together();
  }
  if (memory.order == GradientSums::PerUnit) return;
  context.pool.parallel_for(s.out_c, 1, [&](std::int64_t begin, std::int64_t end) {
    const winograd::SumRange range{{0, points()}, {begin, end}, {0, s.in_c}};
    run.finish(range, /*accumulate=*/false, memory.sums.at(range));
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
