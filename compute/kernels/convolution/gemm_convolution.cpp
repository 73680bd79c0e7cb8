// Convolution as a matrix product of patches and weights. The weights are packed once; threads then
// process blocks of output pixels: they copy their patches (im2col) and multiply them while they
// are in L2.
//   forward          Y = patches * W^T
//   input gradient   patches' gradient = dY * W, added back to the pixels (col2im)
//   weight gradient  dW = dY^T * patches: small sums in parts of the batch, which are added in
//                    order; large ones block by block, each thread on its rows of the sums
#include <algorithm>

#include "compute/kernels/convolution/algorithm.h"
#include "compute/kernels/convolution/packed_products.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/ops/im2col.h"
#include "compute/kernels/ops/row_ops.h"
#include "compute/kernels/ops/vector_ops.h"
#include "compute/machine/slice.h"

namespace lab {
namespace {

using simd::ConvShape;

// Memory of forward and input gradient.
struct ProductMemory {
  PackedOperand weights;
  std::int64_t rows = 0;  // output pixels in a block
  float* parts = nullptr;
  std::int64_t part_stride = 0;  // floats per thread
  std::int64_t col_floats = 0;   // patches; the rest of a part is the product's work memory
  std::int64_t used_bytes = 0;
};

ProductMemory product_memory(Scratch scratch, const ConvolutionCase& c) {
  const ConvShape& s = c.shape;
  const TileSize tile = tile_size(c.products);
  ProductMemory m;
  const bool forward = c.stage == ConvolutionStage::Forward;
  m.weights = {c.products, forward ? s.patch() : s.out_c, forward ? s.out_c : s.patch()};
  // Patches take most of L2. More rows are used if the weights, which are read once per block, are
  // large.
  constexpr std::int64_t kFewestTiles = 4, kPartsPerThread = 4;
  const std::int64_t fit = cache_sizes().l2_bytes * 3 / 4 / (s.patch() * 4) / tile.rows;
  const std::int64_t tiles = ceil_div(c.batch * s.out_pixels(), tile.rows);
  const std::int64_t balanced = c.threads == 1 ? tiles : tiles / (kPartsPerThread * c.threads);
  m.rows = std::max(std::min(fit, balanced), std::min(kFewestTiles, tiles)) * tile.rows;
  m.col_floats = ceil_div(m.rows * s.patch() + simd::kIm2colSlack, 16) * 16;
  m.part_stride = m.col_floats + ceil_div(m.weights.work_floats(m.rows), 16) * 16;
  ScratchCursor cursor(scratch);
  m.weights.data = cursor.take<float>(m.weights.words());
  m.parts = cursor.take<float>(m.part_stride * c.threads);
  m.used_bytes = cursor.used_bytes();
  return m;
}

// Memory of the weight gradient. If the sums are small, there are several parts of the batch, each
// with its own sums; a thread has its own patches for the part at hand. Otherwise all threads share
// the patches of a block and sum in place. Strides and offsets are in floats.
struct GradientMemory {
  bool shared = false;
  std::int64_t parts = 0;  // 0 if shared
  std::int64_t rows = 0;   // output pixels in a block
  float* sums = nullptr;   // [parts][sums_stride]
  std::int64_t sums_stride = 0;
  float* strips = nullptr;  // the block's patches, of each thread or shared
  std::int64_t strips_stride = 0;
  std::int64_t group = 0;  // rows whose patches are copied at once, before they go into strips
  float* work = nullptr;   // of each thread: the group's patches, and the product's work memory
  std::int64_t work_stride = 0, product_at = 0;
  std::int64_t used_bytes = 0;
};

// The patches of a block of pixels; `data` may be null.
PackedOperand packed_patches(const ConvShape& s, Precision products, Slice block, float* data) {
  PackedOperand patches(products, block.end - block.begin, s.patch());
  patches.data = data;
  return patches;
}

// The product of a block of pixels, without its sums.
TransposedProduct gradient_product(const ConvShape& s, const PackedOperand& patches,
                                   const float* dy = nullptr, Slice block = {}) {
  return {.products = patches.products,
          .m = s.out_c,
          .n = s.patch(),
          .a = dy == nullptr ? nullptr : dy + block.begin * s.out_c,
          .a_stride = s.out_c,
          .b = static_cast<const float*>(patches.data),
          .b_strip_stride = patches.strip_words(),
          .c_stride = s.patch()};
}

GradientMemory gradient_memory(Scratch scratch, const ConvolutionCase& c) {
  // The sums are read and written once per block, so fewer rows would not pay. The sizes that
  // determine the order of the sums do not depend on the threads.
  constexpr std::int64_t kFewestRows = 256;
  constexpr std::int64_t kAllSums_bytes = 4 << 20, kBlock_bytes = 512 << 10,
                         kSharedBlock_bytes = 4 << 20, kGroup_bytes = 64 << 10;
  const ConvShape& s = c.shape;
  const std::int64_t patch_bytes = s.patch() * 4;
  GradientMemory m;
  m.sums_stride = ceil_div(s.weights(), 16) * 16;
  m.parts = weight_sum_parts(c.batch, ceil_div(kFewestRows, s.out_pixels()), m.sums_stride * 4,
                             kAllSums_bytes);
  m.shared = m.parts == 0;
  m.rows = std::max(kFewestRows, (m.shared ? kSharedBlock_bytes : kBlock_bytes) / patch_bytes);
  m.rows = std::min(m.rows, c.batch * s.out_pixels());
  const PackedOperand patches = packed_patches(s, c.products, {0, m.rows}, nullptr);
  m.strips_stride = ceil_div(patches.words(), 16) * 16;
  // Even, since a word may hold two rows.
  m.group = std::max<std::int64_t>(4, kGroup_bytes / patch_bytes) / 2 * 2;
  m.product_at = ceil_div(m.group * s.patch() + simd::kIm2colSlack, 16) * 16;
  m.work_stride =
      m.product_at + ceil_div(gradient_product(s, patches).work_floats(m.rows), 16) * 16;
  ScratchCursor cursor(scratch);
  m.sums = cursor.take<float>(m.sums_stride * m.parts);
  m.strips = cursor.take<float>(m.strips_stride * (m.shared ? 1 : c.threads));
  m.work = cursor.take<float>(m.work_stride * c.threads);
  m.used_bytes = cursor.used_bytes();
  return m;
}

// Packs all strips, divided among the threads.
void pack_weights(const PackedOperand& operand, ThreadPool& pool, const float* weight,
                  std::int64_t k_stride, std::int64_t column_stride) {
  constexpr std::int64_t kTerms = 128;
  const std::int64_t pieces = ceil_div(operand.k, kTerms);
  const std::int64_t width = operand.tile.cols;
  pool.parallel_for(operand.strips() * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t strip = i / pieces, term = i % pieces * kTerms;
      operand.pack(strip, term, std::min(kTerms, operand.k - term),
                   weight + term * k_stride + strip * width * column_stride, k_stride,
                   column_stride);
    }
  });
}

// Calls body(block) for consecutive blocks of rows until the end or a stop request.
template <class Body>
void for_row_blocks(Slice rows, std::int64_t block, const std::stop_token& stop, const Body& body) {
  for (std::int64_t r = rows.begin; r < rows.end && !stop.stop_requested(); r += block) {
    body(Slice{r, std::min(rows.end, r + block)});
  }
}

Slice pixels_of(Slice images, const ConvShape& s) {
  return {images.begin * s.out_pixels(), images.end * s.out_pixels()};
}

class GemmConvolution final : public ConvolutionAlgorithm {
 public:
  const char* name() const override { return "gemm"; }
  bool supports(const ConvolutionCase& /*c*/) const override { return true; }
  std::int64_t scratch_bytes(const ConvolutionCase& c) const override {
    return c.stage == ConvolutionStage::WeightGradient ? gradient_memory({}, c).used_bytes
                                                       : product_memory({}, c).used_bytes;
  }

  void forward(const ConvShape& s, const ConvolutionContext& context, const float* x,
               const float* weight, const float* bias, float* y) const override {
    const ProductMemory m =
        product_memory(context.scratch, case_of(s, ConvolutionStage::Forward, context));
    pack_weights(m.weights, context.pool, weight, /*k_stride=*/1, /*column_stride=*/s.patch());
    const std::int64_t rows = context.batch * s.out_pixels();
    context.pool.run_parts(ceil_div(rows, m.rows), [&](std::int64_t part, int t) {
      if (context.stop.stop_requested()) return;
      float* const col = m.parts + t * m.part_stride;
      const std::int64_t begin = part * m.rows, end = std::min(rows, begin + m.rows);
      float* const out = y + begin * s.out_c;
      simd::im2col(x, col, s, begin, end);
      m.weights.multiply(col, s.patch(), out, s.out_c, end - begin, /*accumulate=*/false,
                         col + m.col_floats);
      if (bias != nullptr) simd::add_bias(out, bias, end - begin, s.out_c);
    });
  }

  void input_gradient(const ConvShape& s, const ConvolutionContext& context, const float* dy,
                      const float* weight, float* dx, bool accumulate) const override {
    const ProductMemory m =
        product_memory(context.scratch, case_of(s, ConvolutionStage::InputGradient, context));
    pack_weights(m.weights, context.pool, weight, /*k_stride=*/s.patch(), /*column_stride=*/1);
    const std::int64_t at_once = std::max<std::int64_t>(1, m.rows / s.out_pixels());
    context.pool.run_parts(ceil_div(context.batch, at_once), [&](std::int64_t part, int t) {
      const Slice images{part * at_once, std::min(context.batch, (part + 1) * at_once)};
      float* const col = m.parts + t * m.part_stride;
      if (!accumulate) {
        std::fill(dx + images.begin * s.in_size(), dx + images.end * s.in_size(), 0.0F);
      }
      for_row_blocks(pixels_of(images, s), m.rows, context.stop, [&](Slice block) {
        m.weights.multiply(dy + block.begin * s.out_c, s.out_c, col, s.patch(),
                           block.end - block.begin, /*accumulate=*/false, col + m.col_floats);
        simd::col2im(col, dx, s, block.begin, block.end);
      });
    });
  }

  void weight_gradient(const ConvShape& s, const ConvolutionContext& context, const float* x,
                       const float* dy, float* d_weight) const override {
    const GradientMemory m =
        gradient_memory(context.scratch, case_of(s, ConvolutionStage::WeightGradient, context));
    if (m.shared) {
      sum_together(s, context, m, x, dy, d_weight);
    } else {
      sum_in_parts(s, context, m, x, dy, d_weight);
    }
  }

 private:
  static void sum_in_parts(const ConvShape& s, const ConvolutionContext& context,
                           const GradientMemory& m, const float* x, const float* dy,
                           float* d_weight) {
    context.pool.run_parts(m.parts, [&](std::int64_t part, int t) {
      float* const strips = m.strips + t * m.strips_stride;
      float* const work = m.work + t * m.work_stride;
      const Slice rows = pixels_of(slice_of(context.batch, m.parts, part), s);
      for_row_blocks(rows, m.rows, context.stop, [&](Slice block) {
        const PackedOperand patches = packed_patches(s, context.products, block, strips);
        copy_patches(s, m, x, block, {0, patches.k}, patches, work);
        TransposedProduct product = gradient_product(s, patches, dy, block);
        product.c = m.sums + part * m.sums_stride;
        product.multiply({0, product.row_tiles()}, patches.k,
                         /*accumulate=*/block.begin > rows.begin, work + m.product_at);
      });
    });
    context.pool.parallel_for(s.weights(), 4096, [&](std::int64_t begin, std::int64_t end) {
      simd::sum_arrays(m.sums + begin, m.parts, m.sums_stride, d_weight + begin, end - begin);
    });
  }

  static void sum_together(const ConvShape& s, const ConvolutionContext& context,
                           const GradientMemory& m, const float* x, const float* dy,
                           float* d_weight) {
    for_row_blocks(pixels_of({0, context.batch}, s), m.rows, context.stop, [&](Slice block) {
      const PackedOperand patches = packed_patches(s, context.products, block, m.strips);
      const std::int64_t count = patches.k;
      context.pool.run_parts(ceil_div(count, m.group), [&](std::int64_t part, int t) {
        const Slice group{part * m.group, std::min(count, (part + 1) * m.group)};
        copy_patches(s, m, x, block, group, patches, m.work + t * m.work_stride);
      });
      TransposedProduct product = gradient_product(s, patches, dy, block);
      product.c = d_weight;
      // Each piece of the sums reads all patches.
      constexpr std::int64_t kPerThread = 4;
      const std::int64_t tiles = product.row_tiles();
      const std::int64_t pieces = std::min(tiles, kPerThread * context.pool.size());
      context.pool.run_parts(pieces, [&](std::int64_t piece, int t) {
        product.multiply(slice_of(tiles, pieces, piece), count, /*accumulate=*/block.begin > 0,
                         m.work + t * m.work_stride + m.product_at);
      });
    });
  }

  // Packs the patches of rows `rows` of a block.
  static void copy_patches(const ConvShape& s, const GradientMemory& m, const float* x, Slice block,
                           Slice rows, const PackedOperand& patches, float* col) {
    for (std::int64_t r = rows.begin; r < rows.end; r += m.group) {
      const std::int64_t end = std::min(rows.end, r + m.group);
      simd::im2col(x, col, s, block.begin + r, block.begin + end);
      for (std::int64_t strip = 0; strip < patches.strips(); ++strip) {
        patches.pack(strip, r, end - r, col + strip * patches.tile.cols, s.patch(), 1);
      }
    }
  }
};

}  // namespace

const ConvolutionAlgorithm& gemm_convolution() {
  static const GemmConvolution algorithm;
  return algorithm;
}

}  // namespace lab
