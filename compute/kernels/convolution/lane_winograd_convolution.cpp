// Winograd's F(5x2, 5x5) on blocks of images in lane layout, for layers with few channels. A thread
// interleaves the pixels of a block, computes the whole block, and de-interleaves the result. The
// weight gradient is summed in parts of the batch, which are added in order.
#include <algorithm>

#include "compute/kernels/convolution/algorithm.h"
#include "compute/kernels/convolution/image_blocks.h"
#include "compute/kernels/convolution/lane_convolution.h"
#include "compute/kernels/convolution/lane_winograd.h"
#include "compute/kernels/gemm/cache_blocks.h"
#include "compute/kernels/ops/vector_ops.h"
#include "compute/machine/slice.h"

namespace lab {
namespace {

using simd::ConvShape;

// Work memory of one thread.
struct ForwardMemory {
  float* x = nullptr;  // a block as vectors, like y and their gradients below
  float* y = nullptr;
  LaneWinograd::Forward arrays;
  std::int64_t bytes = 0;

  static ForwardMemory carve(Scratch scratch, const ConvShape& s) {
    ScratchCursor cursor(scratch);
    ForwardMemory m;
    m.x = cursor.take<float>(s.in_size() * simd::image_lanes());
    m.y = cursor.take<float>(s.out_size() * simd::image_lanes());
    m.arrays = LaneWinograd(s).take_forward(cursor);
    m.bytes = cursor.used_bytes();
    return m;
  }
};

struct BackwardMemory {
  float* x = nullptr;  // or its gradient
  float* dy = nullptr;
  LaneWinograd::Backward arrays;
  std::int64_t bytes = 0;

  static BackwardMemory carve(Scratch scratch, const ConvShape& s) {
    ScratchCursor cursor(scratch);
    BackwardMemory m;
    m.x = cursor.take<float>(s.in_size() * simd::image_lanes());
    m.dy = cursor.take<float>(s.out_size() * simd::image_lanes());
    m.arrays = LaneWinograd(s).take_backward(cursor);
    m.bytes = cursor.used_bytes();
    return m;
  }
};

std::int64_t thread_bytes(const ConvolutionCase& c) {
  return c.stage == ConvolutionStage::Forward ? ForwardMemory::carve({}, c.shape).bytes
                                              : BackwardMemory::carve({}, c.shape).bytes;
}

class LaneWinogradConvolution final : public ConvolutionAlgorithm {
 public:
  const char* name() const override { return "winograd2"; }

  // Work memory must fit in L2; a block less than half full wastes more than half of every vector.
  bool supports(const ConvolutionCase& c) const override {
    constexpr std::int64_t kMaxBytes = 1024 * 1024;
    return c.products == Precision::F32 && LaneWinograd::supports(c.shape) &&
           c.batch >= simd::image_lanes() / 2 && thread_bytes(c) <= kMaxBytes;
  }

  std::int64_t scratch_bytes(const ConvolutionCase& c) const override {
    const std::int64_t of_threads = thread_bytes(c) * c.threads;
    if (c.stage != ConvolutionStage::WeightGradient) return of_threads;
    return of_threads + lane_gradient_parts(c.batch) * part_floats(c.shape) * 4;
  }

  void forward(const ConvShape& s, const ConvolutionContext& context, const float* x,
               const float* weight, const float* bias, float* y) const override {
    const LaneWinograd winograd(s);
    image_blocks::run_with_memory(
        context, ForwardMemory::carve({}, s).bytes, lane_blocks(context.batch),
        [&](Scratch scratch) { return ForwardMemory::carve(scratch, s); },
        [&](const ForwardMemory& m) { winograd.begin(m.arrays, weight); },
        [&](std::int64_t block, const ForwardMemory& m) {
          image_blocks::for_each(
              context, {block, block + 1}, [&](std::int64_t first, std::int64_t images) {
                simd::images_to_lanes({x + first * s.in_size(), s.in_size(), images, s.in_size()},
                                      m.x);
                winograd.forward(m.arrays, m.x, bias, m.y);
                simd::lanes_to_images(
                    m.y, {y + first * s.out_size(), s.out_size(), images, s.out_size()},
                    /*accumulate=*/false);
              });
        });
  }

  void input_gradient(const ConvShape& s, const ConvolutionContext& context, const float* dy,
                      const float* weight, float* dx, bool accumulate) const override {
    const LaneWinograd winograd(s);
    image_blocks::run_with_memory(
        context, BackwardMemory::carve({}, s).bytes, lane_blocks(context.batch),
        [&](Scratch scratch) { return BackwardMemory::carve(scratch, s); },
        [&](const BackwardMemory& m) { winograd.begin(m.arrays, weight); },
        [&](std::int64_t block, const BackwardMemory& m) {
          image_blocks::for_each(
              context, {block, block + 1}, [&](std::int64_t first, std::int64_t images) {
                load_gradient(s, dy, first, images, m.dy);
                winograd.backward(m.arrays, /*x=*/nullptr, m.dy, m.x);
                simd::lanes_to_images(
                    m.x, {dx + first * s.in_size(), s.in_size(), images, s.in_size()}, accumulate);
              });
        });
  }

  void weight_gradient(const ConvShape& s, const ConvolutionContext& context, const float* x,
                       const float* dy, float* d_weight) const override {
    const LaneWinograd winograd(s);
    const std::int64_t bytes = BackwardMemory::carve({}, s).bytes;
    const std::int64_t parts = lane_gradient_parts(context.batch), stride = part_floats(s);
    auto* const sums = reinterpret_cast<float*>(context.scratch.data + bytes * context.pool.size());
    image_blocks::run_with_memory(
        context, bytes, parts, [&](Scratch scratch) { return BackwardMemory::carve(scratch, s); },
        [&](const BackwardMemory& m) { winograd.begin(m.arrays, /*weight=*/nullptr); },
        [&](std::int64_t part, const BackwardMemory& m) {
          winograd.clear_sums(m.arrays);
          image_blocks::for_each(context, slice_of(lane_blocks(context.batch), parts, part),
                                 [&](std::int64_t first, std::int64_t images) {
                                   simd::images_to_lanes(
                                       {x + first * s.in_size(), s.in_size(), images, s.in_size()},
                                       m.x);
                                   load_gradient(s, dy, first, images, m.dy);
                                   winograd.backward(m.arrays, m.x, m.dy, /*dx=*/nullptr);
                                 });
          std::copy_n(m.arrays.sums, winograd.points(), sums + part * stride);
        });
    simd::sum_arrays(sums, parts, stride, sums, winograd.points());
    winograd.weight_gradient(sums, d_weight);
  }

 private:
  // The size of one part's sums.
  static std::int64_t part_floats(const ConvShape& s) {
    return ceil_div(LaneWinograd(s).points(), 16) * 16;
  }
  static void load_gradient(const ConvShape& s, const float* dy, std::int64_t first,
                            std::int64_t images, float* block) {
    simd::images_to_lanes({dy + first * s.out_size(), s.out_size(), images, s.out_size()}, block);
  }
};

}  // namespace

const ConvolutionAlgorithm& lane_winograd_convolution() {
  static const LaneWinogradConvolution algorithm;
  return algorithm;
}

}  // namespace lab
