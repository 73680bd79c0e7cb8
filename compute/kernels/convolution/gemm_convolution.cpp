// Convolution as a matrix product of patches and weights. The weights are packed once; each thread
// then processes blocks of output pixels: it copies their patches (im2col) and multiplies them
// while they are in L2.
//   forward          Y = patches * W^T
//   input gradient   patches' gradient = dY * W, added back to the pixels (col2im)
//   weight gradient  dW = dY^T * patches, one partial sum per thread, added in thread order
#include <algorithm>

#include "compute/kernels/convolution/algorithm.h"
#include "compute/kernels/convolution/packed_products.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/gemm/gemm_kernels.h"
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
  m.weights.products = c.products;
  m.weights.k = forward ? s.patch() : s.out_c;
  m.weights.n = forward ? s.out_c : s.patch();
  // Patches take most of L2. More rows are used if the weights, which are read once per block, are
  // large.
  constexpr std::int64_t kFewestTiles = 4;
  const std::int64_t fit = cache_sizes().l2_bytes * 3 / 4 / (s.patch() * 4) / tile.rows;
  m.rows = std::max(fit, kFewestTiles) * tile.rows;
  m.rows = std::min(m.rows, ceil_div(c.batch * s.out_pixels(), tile.rows) * tile.rows);
  m.col_floats = ceil_div(m.rows * s.patch() + simd::kIm2colSlack, 16) * 16;
  m.part_stride = m.col_floats + ceil_div(m.weights.work_floats(m.rows), 16) * 16;
  ScratchCursor cursor(scratch);
  m.weights.data = cursor.take<float>(m.weights.words());
  m.parts = cursor.take<float>(m.part_stride * c.threads);
  m.used_bytes = cursor.used_bytes();
  return m;
}

// Memory of the weight gradient. Each thread's part holds patches by rows, the same in strips, the
// sums, and the product's work memory; the offsets are in floats.
struct GradientMemory {
  std::int64_t rows = 0;  // output pixels in a block
  float* parts = nullptr;
  std::int64_t part_stride = 0, strips_at = 0, sums_at = 0, work_at = 0;
  std::int64_t used_bytes = 0;
};

TransposedProduct gradient_product(const ConvShape& s, Precision products) {
  return {.products = products,
          .m = s.out_c,
          .n = s.patch(),
          .a = nullptr,
          .b = nullptr,
          .b_strip_stride = 0,
          .c = nullptr};
}

GradientMemory gradient_memory(Scratch scratch, const ConvolutionCase& c) {
  // The sums are read and written once per block, so fewer rows would not pay.
  constexpr std::int64_t kFewestRows = 256;
  const ConvShape& s = c.shape;
  const std::int64_t width = tile_size(c.products).cols;
  GradientMemory m;
  m.rows = std::max(kFewestRows, cache_sizes().l2_bytes / 2 / (s.patch() * 4));
  m.rows = std::min(m.rows, ceil_div(c.batch, c.threads) * s.out_pixels());
  m.strips_at = ceil_div(m.rows * s.patch() + simd::kIm2colSlack, 16) * 16;
  m.sums_at = m.strips_at + ceil_div(m.rows * ceil_div(s.patch(), width) * width, 16) * 16;
  m.work_at = m.sums_at + ceil_div(s.weights(), 16) * 16;
  m.part_stride =
      m.work_at + ceil_div(gradient_product(s, c.products).work_floats(m.rows), 16) * 16;
  ScratchCursor cursor(scratch);
  m.parts = cursor.take<float>(m.part_stride * c.threads);
  m.used_bytes = cursor.used_bytes();
  return m;
}

// Packs all strips, divided among the threads.
void pack_weights(const PackedOperand& operand, ThreadPool& pool, const float* weight,
                  std::int64_t k_stride, std::int64_t column_stride) {
  constexpr std::int64_t kTerms = 128;
  const std::int64_t pieces = ceil_div(operand.k, kTerms);
  const std::int64_t width = tile_size(operand.products).cols;
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
    const int threads = context.pool.size();
    const ProductMemory m =
        product_memory(context.scratch, case_of(s, ConvolutionStage::Forward, context));
    pack_weights(m.weights, context.pool, weight, /*k_stride=*/1, /*column_stride=*/s.patch());
    context.pool.run([&](int t) {
      float* const col = m.parts + t * m.part_stride;
      const Slice rows = slice_of(context.batch * s.out_pixels(), threads, t);
      for_row_blocks(rows, m.rows, context.stop, [&](Slice block) {
        const std::int64_t count = block.end - block.begin;
        float* const out = y + block.begin * s.out_c;
        simd::im2col(x, col, s, block.begin, block.end);
        m.weights.multiply(col, s.patch(), out, s.out_c, count, /*accumulate=*/false,
                           col + m.col_floats);
        if (bias != nullptr) simd::add_bias(out, bias, count, s.out_c);
      });
    });
  }

  void input_gradient(const ConvShape& s, const ConvolutionContext& context, const float* dy,
                      const float* weight, float* dx, bool accumulate) const override {
    const int threads = context.pool.size();
    const ProductMemory m =
        product_memory(context.scratch, case_of(s, ConvolutionStage::InputGradient, context));
    pack_weights(m.weights, context.pool, weight, /*k_stride=*/s.patch(), /*column_stride=*/1);
    context.pool.run([&](int t) {
      const Slice images = slice_of(context.batch, threads, t);
      if (images.empty()) return;
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
    const int threads = context.pool.size();
    const GradientMemory m =
        gradient_memory(context.scratch, case_of(s, ConvolutionStage::WeightGradient, context));
    context.pool.run([&](int t) {
      float* const part = m.parts + t * m.part_stride;
      const Slice rows = pixels_of(slice_of(context.batch, threads, t), s);
      for_row_blocks(rows, m.rows, context.stop, [&](Slice block) {
        simd::im2col(x, part, s, block.begin, block.end);
        add_products(s, context.products, m, dy + block.begin * s.out_c, block.end - block.begin,
                     /*first=*/block.begin == rows.begin, part);
      });
    });
    const std::int64_t parts = filled_slices(context.batch, threads);
    context.pool.parallel_for(s.weights(), 4096, [&](std::int64_t begin, std::int64_t end) {
      simd::sum_arrays(m.parts + m.sums_at + begin, parts, m.part_stride, d_weight + begin,
                       end - begin);
    });
  }

 private:
  // Adds the products of one block to a thread's sums; the patches are at the beginning of `part`.
  static void add_products(const ConvShape& s, Precision products, const GradientMemory& m,
                           const float* dy, std::int64_t count, bool first, float* part) {
    const int width = tile_size(products).cols;
    for (std::int64_t j = 0; j < s.patch(); j += width) {
      gemm_kernels().pack({.source = part + j,
                           .strip_stride = 1,
                           .k_stride = s.patch(),
                           .k = count,
                           .valid = tile_part(s.patch(), j, width),
                           .width = width,
                           .out = part + m.strips_at + j * count});
    }
    TransposedProduct product = gradient_product(s, products);
    product.a = dy;
    product.b = part + m.strips_at;
    product.b_strip_stride = count * width;
    product.c = part + m.sums_at;
    product.multiply({0, product.row_tiles()}, count, /*accumulate=*/!first, part + m.work_at);
  }
};

}  // namespace

const ConvolutionAlgorithm& gemm_convolution() {
  static const GemmConvolution algorithm;
  return algorithm;
}

}  // namespace lab
