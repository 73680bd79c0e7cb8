// Convolution by definition, on blocks of images in lane layout. A thread processes images block by
// block: it interleaves the block's pixels, computes rows of output pixels, and de-interleaves
// them. The weight gradient is summed in parts of the batch, which are added in order.
#include <algorithm>

#include "compute/kernels/convolution/algorithm.h"
#include "compute/kernels/convolution/image_blocks.h"
#include "compute/kernels/convolution/lane_convolution.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/ops/vector_ops.h"
#include "compute/machine/slice.h"

namespace lab {
namespace {

using simd::ConvShape;

// Rows of the output held as vectors at once: about `floats` floats, and if possible a whole number
// of vectors per image.
std::int64_t rows_at_once(const ConvShape& s, std::int64_t floats) {
  const std::int64_t row = s.out_w * s.out_c;
  std::int64_t rows = std::clamp<std::int64_t>(floats / (row * simd::image_lanes()), 1, s.out_h);
  for (std::int64_t r = rows; r > 0; --r) {
    if (r * row % simd::image_lanes() == 0) return r;
  }
  return rows;
}

constexpr std::int64_t kOutputFloats = 6 * 1024;     // fits in L1 with the input rows
constexpr std::int64_t kGradientFloats = 28 * 1024;  // fits in L2 with the sums

// Work memory of one thread.
struct Memory {
  float* plane = nullptr;    // input of a block
  float* rows = nullptr;     // rows of its output or output gradient
  float* weights = nullptr;  // packed
  float* sums = nullptr;     // one vector per weight
  std::int64_t bytes = 0;
};

std::int64_t row_floats(const ConvShape& s, std::int64_t rows) {
  return rows * s.out_w * s.out_c * simd::image_lanes();
}

// For forward; for the input gradient, `s` is the rotated shape.
Memory carve_correlation(Scratch scratch, const ConvShape& s) {
  ScratchCursor cursor(scratch);
  Memory m;
  m.plane = cursor.take<float>(plane_of(s).floats());
  m.rows = cursor.take<float>(row_floats(s, rows_at_once(s, kOutputFloats)));
  m.weights = cursor.take<float>(s.weights());
  m.bytes = cursor.used_bytes();
  return m;
}

Memory carve_weight_gradient(Scratch scratch, const ConvShape& s) {
  ScratchCursor cursor(scratch);
  Memory m;
  m.plane = cursor.take<float>(plane_of(s).floats());
  m.rows = cursor.take<float>(row_floats(s, rows_at_once(s, kGradientFloats)));
  m.sums = cursor.take<float>(s.weights() * simd::image_lanes());
  m.bytes = cursor.used_bytes();
  return m;
}

std::int64_t bytes_of_thread(const ConvolutionCase& c) {
  switch (c.stage) {
    case ConvolutionStage::Forward: return carve_correlation({}, c.shape).bytes;
    case ConvolutionStage::InputGradient: return carve_correlation({}, rotated(c.shape)).bytes;
    case ConvolutionStage::WeightGradient: break;
  }
  return carve_weight_gradient({}, c.shape).bytes;
}

struct CorrelationArgs {
  const float* in;
  const float* bias;
  float* out;
  bool accumulate;
};

// Computes all output rows of one block of images.
void correlate_block(const ConvShape& s, const Memory& memory, const CorrelationArgs& args,
                     std::int64_t first, std::int64_t images) {
  fill_plane(plane_of(s), args.in + first * s.in_size(), images, memory.plane);
  const std::int64_t at_once = rows_at_once(s, kOutputFloats);
  const std::int64_t row_size = s.out_w * s.out_c;
  for (std::int64_t begin = 0; begin < s.out_h; begin += at_once) {
    const std::int64_t end = std::min(s.out_h, begin + at_once);
    correlate_lanes(s, memory.plane, memory.weights, args.bias, {begin, end}, memory.rows);
    simd::lanes_to_images(memory.rows,
                          {args.out + first * s.out_size() + begin * row_size, s.out_size(), images,
                           (end - begin) * row_size},
                          args.accumulate);
  }
}

// `s` is the shape of the correlation, and `weights` match it.
void correlate(const ConvShape& s, const ConvolutionContext& context,
               const simd::DirectWeights& weights, const CorrelationArgs& args) {
  image_blocks::run_with_memory(
      context, carve_correlation({}, s).bytes, lane_blocks(context.batch),
      [&](Scratch scratch) { return carve_correlation(scratch, s); },
      [&](const Memory& memory) {
        std::fill_n(memory.plane, plane_of(s).floats(), 0.0F);
        simd::pack_direct_weights(weights, memory.weights);
      },
      [&](std::int64_t block, const Memory& memory) {
        image_blocks::for_each(context, {block, block + 1},
                               [&](std::int64_t first, std::int64_t images) {
                                 correlate_block(s, memory, args, first, images);
                               });
      });
}

void sum_block(const ConvShape& s, const Memory& memory, const float* x, const float* dy,
               std::int64_t images) {
  fill_plane(plane_of(s), x, images, memory.plane);
  const std::int64_t at_once = rows_at_once(s, kGradientFloats);
  const std::int64_t row_size = s.out_w * s.out_c;
  for (std::int64_t begin = 0; begin < s.out_h; begin += at_once) {
    const std::int64_t end = std::min(s.out_h, begin + at_once);
    simd::images_to_lanes({dy + begin * row_size, s.out_size(), images, (end - begin) * row_size},
                          memory.rows);
    add_weight_gradient(s, memory.plane, memory.rows, {begin, end}, memory.sums);
  }
}

class DirectConvolution final : public ConvolutionAlgorithm {
 public:
  const char* name() const override { return "direct"; }

  // Work memory must fit in L2; a stride would scatter gradients; a block less than half full
  // wastes more than half of every vector.
  bool supports(const ConvolutionCase& c) const override {
    constexpr std::int64_t kMaxBytes = 640 * 1024;
    const bool scatters = c.stage == ConvolutionStage::InputGradient && c.shape.stride != 1;
    return c.products == Precision::F32 && !scatters && c.shape.padding < c.shape.kernel &&
           c.batch >= simd::image_lanes() / 2 && bytes_of_thread(c) <= kMaxBytes;
  }
  std::int64_t scratch_bytes(const ConvolutionCase& c) const override {
    const std::int64_t of_threads = bytes_of_thread(c) * c.threads;
    if (c.stage != ConvolutionStage::WeightGradient) return of_threads;
    return of_threads + lane_gradient_parts(c.batch) * sum_bytes(c.shape);
  }

  void forward(const ConvShape& s, const ConvolutionContext& context, const float* x,
               const float* weight, const float* bias, float* y) const override {
    correlate(s, context, forward_weights(s, weight), {x, bias, y, false});
  }

  void input_gradient(const ConvShape& s, const ConvolutionContext& context, const float* dy,
                      const float* weight, float* dx, bool accumulate) const override {
    correlate(rotated(s), context, rotated_weights(s, weight), {dy, nullptr, dx, accumulate});
  }

  void weight_gradient(const ConvShape& s, const ConvolutionContext& context, const float* x,
                       const float* dy, float* d_weight) const override {
    const std::int64_t bytes = carve_weight_gradient({}, s).bytes;
    const std::int64_t parts = lane_gradient_parts(context.batch);
    auto* const sums = reinterpret_cast<float*>(context.scratch.data + bytes * context.pool.size());
    const std::int64_t stride = sum_bytes(s) / 4;
    image_blocks::run_with_memory(
        context, bytes, parts, [&](Scratch scratch) { return carve_weight_gradient(scratch, s); },
        [&](const Memory& memory) { std::fill_n(memory.plane, plane_of(s).floats(), 0.0F); },
        [&](std::int64_t part, const Memory& memory) {
          std::fill_n(memory.sums, s.weights() * simd::image_lanes(), 0.0F);
          image_blocks::for_each(context, slice_of(lane_blocks(context.batch), parts, part),
                                 [&](std::int64_t first, std::int64_t images) {
                                   sum_block(s, memory, x + first * s.in_size(),
                                             dy + first * s.out_size(), images);
                                 });
          simd::sum_lanes(memory.sums, sums + part * stride, s.weights());
        });
    simd::sum_arrays(sums, parts, stride, d_weight, s.weights());
  }

 private:
  // The size of one part's sums.
  static std::int64_t sum_bytes(const ConvShape& s) { return ceil_div(s.weights() * 4, 64) * 64; }
};

}  // namespace

const ConvolutionAlgorithm& direct_convolution() {
  static const DirectConvolution algorithm;
  return algorithm;
}

}  // namespace lab
