// Convolution by its definition on blocks of images that lie side by side in vectors.
// Each thread takes its images block by block: it interleaves the block's pixels, computes rows of
// output pixels, and takes them apart again.
//   forward          products of input vectors with weights
//   input gradient   the same with the output's gradient and the kernel turned by 180 degrees
//   weight gradient  products of input and output gradient, summed over pixels and blocks; at the
//                    end over the lanes, and over the threads in their order
#include <algorithm>

#include "compute/convolution/algorithm.h"
#include "compute/cpu/direct_convolution.h"
#include "compute/cpu/row_ops.h"
#include "compute/device/slice.h"
#include "compute/matmul/cache_blocks.h"

namespace lab {
namespace {

using simd::ConvShape;

// A block of images of one array, with columns of zeros on both sides of each row.
struct Plane {
  std::int64_t height, width, channels;  // of the image
  std::int64_t left, padded_width;       // in pixels

  std::int64_t row_stride() const { return padded_width * channels * simd::image_lanes(); }
  std::int64_t floats() const { return height * row_stride(); }
};

// What a row of the kernel reads of the input.
Plane plane_of(const ConvShape& s) {
  const std::int64_t last_window = (s.out_w - 1) * s.stride + s.kernel;
  return {.height = s.in_h,
          .width = s.in_w,
          .channels = s.in_c,
          .left = s.padding,
          .padded_width = std::max(s.padding + s.in_w, last_window)};
}

// The convolution of dy that gives dx.
ConvShape turned(const ConvShape& s) {
  return {.in_h = s.out_h,
          .in_w = s.out_w,
          .in_c = s.out_c,
          .out_h = s.in_h,
          .out_w = s.in_w,
          .out_c = s.in_c,
          .kernel = s.kernel,
          .stride = 1,
          .padding = s.kernel - 1 - s.padding};
}

// Rows of the output that are held as vectors at once: about `floats`, and where that is possible
// a multiple of whole vectors for each image.
std::int64_t rows_at_once(const ConvShape& s, std::int64_t floats) {
  const std::int64_t row = s.out_w * s.out_c;
  std::int64_t rows = std::clamp<std::int64_t>(floats / (row * simd::image_lanes()), 1, s.out_h);
  for (std::int64_t r = rows; r > 0; --r) {
    if (r * row % simd::image_lanes() == 0) return r;
  }
  return rows;
}

constexpr std::int64_t kOutputFloats = 6 * 1024;     // with the input's rows in the first cache
constexpr std::int64_t kGradientFloats = 28 * 1024;  // with the sums in the second cache

// One thread's work memory.
struct Memory {
  float* plane = nullptr;    // the input of a block
  float* rows = nullptr;     // rows of its output or of the output's gradient
  float* weights = nullptr;  // packed weights, or this thread's part of the weights' gradient
  float* sums = nullptr;     // a vector for each weight
  std::int64_t bytes = 0;
};

std::int64_t row_floats(const ConvShape& s, std::int64_t rows) {
  return rows * s.out_w * s.out_c * simd::image_lanes();
}

// For forward, or with the turned shape for the input gradient.
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
  m.weights = cursor.take<float>(s.weights());
  m.plane = cursor.take<float>(plane_of(s).floats());
  m.rows = cursor.take<float>(row_floats(s, rows_at_once(s, kGradientFloats)));
  m.sums = cursor.take<float>(s.weights() * simd::image_lanes());
  m.bytes = cursor.used_bytes();
  return m;
}

std::int64_t bytes_of_thread(const ConvolutionCase& c) {
  switch (c.stage) {
    case ConvolutionStage::Forward: return carve_correlation({}, c.shape).bytes;
    case ConvolutionStage::InputGradient: return carve_correlation({}, turned(c.shape)).bytes;
    case ConvolutionStage::WeightGradient: break;
  }
  return carve_weight_gradient({}, c.shape).bytes;
}

Scratch part_of(Scratch all, std::int64_t bytes, int thread) {
  return {all.data + thread * bytes, bytes};
}

// Kernel rows that meet the image from output row `oy`.
Slice kernel_rows(const ConvShape& s, std::int64_t oy) {
  const std::int64_t top = oy * s.stride - s.padding;
  return {std::max<std::int64_t>(0, -top), std::min(s.kernel, s.in_h - top)};
}

// Interleaves `images` images of x. The columns of zeros are left as they are.
void fill_plane(const Plane& p, const float* x, std::int64_t images, float* plane) {
  const std::int64_t size = p.height * p.width * p.channels;
  const std::int64_t lanes = simd::image_lanes();
  float* to = plane + p.left * p.channels * lanes;
  if (p.padded_width == p.width) {
    simd::images_to_lanes({x, size, images, size}, to);
    return;
  }
  const std::int64_t row = p.width * p.channels;
  for (std::int64_t y = 0; y < p.height; ++y) {
    simd::images_to_lanes({x + y * row, size, images, row}, to + y * p.row_stride());
  }
}

// Calls body(first image, images) for each block of a thread's images until a stop.
template <class Body>
void for_blocks(const ConvolutionContext& context, int thread, const Body& body) {
  const Slice images = slice_of(context.batch, context.pool.size(), thread);
  for (std::int64_t n = images.begin; n < images.end; n += simd::image_lanes()) {
    if (context.stop.stop_requested()) return;
    body(n, std::min(simd::image_lanes(), images.end - n));
  }
}

struct CorrelationArgs {
  const float* in;
  const float* bias;
  float* out;
  bool accumulate;
};

// One block of images: all rows of its output.
void correlate_block(const ConvShape& s, const Memory& memory, const CorrelationArgs& args,
                     std::int64_t first, std::int64_t images) {
  const Plane plane = plane_of(s);
  fill_plane(plane, args.in + first * s.in_size(), images, memory.plane);
  const std::int64_t at_once = rows_at_once(s, kOutputFloats);
  const std::int64_t row_size = s.out_w * s.out_c;
  simd::CorrelateRow row{.in = {memory.plane, plane.row_stride()},
                         .kernel = s.kernel,
                         .in_channels = s.in_c,
                         .out_channels = s.out_c,
                         .stride = s.stride,
                         .out_width = s.out_w,
                         .left = plane.left,
                         .in_width = s.in_w,
                         .weights = memory.weights,
                         .bias = args.bias};
  for (std::int64_t begin = 0; begin < s.out_h; begin += at_once) {
    const std::int64_t end = std::min(s.out_h, begin + at_once);
    for (std::int64_t oy = begin; oy < end; ++oy) {
      const Slice rows = kernel_rows(s, oy);
      row.first_ky = rows.begin;
      row.last_ky = std::max(rows.begin, rows.end);
      const std::int64_t top = oy * s.stride - s.padding + rows.begin;
      row.in.data = memory.plane + top * plane.row_stride();
      row.out = memory.rows + row_floats(s, oy - begin);
      simd::correlate_row(row);
    }
    simd::lanes_to_images(memory.rows,
                          {args.out + first * s.out_size() + begin * row_size, s.out_size(), images,
                           (end - begin) * row_size},
                          args.accumulate);
  }
}

// `s` is the correlation's shape; `weights` are in its terms.
void correlate(const ConvShape& s, const ConvolutionContext& context,
               const simd::DirectWeights& weights, const CorrelationArgs& args) {
  const std::int64_t bytes = carve_correlation({}, s).bytes;
  context.pool.run([&](int t) {
    const Memory memory = carve_correlation(part_of(context.scratch, bytes, t), s);
    std::fill_n(memory.plane, plane_of(s).floats(), 0.0F);
    simd::pack_direct_weights(weights, memory.weights);
    for_blocks(context, t, [&](std::int64_t first, std::int64_t images) {
      correlate_block(s, memory, args, first, images);
    });
  });
}

// Adds output rows [begin, end) of a block to the sums: those of a few output channels and one row
// of the kernel stay in the first cache.
void sum_rows(const ConvShape& s, const Memory& memory, Slice out_rows) {
  const Plane plane = plane_of(s);
  const std::int64_t lanes = simd::image_lanes(), taps = s.kernel * s.in_c;
  const std::int64_t groups = ceil_div(s.out_c, simd::kWeightSumChannels);
  simd::WeightSumsRow row{.step = s.stride * s.in_c,
                          .taps = taps,
                          .out_width = s.out_w,
                          .out_channels = s.out_c,
                          .sum_stride = s.patch()};
  for (std::int64_t g = 0; g < groups; ++g) {
    row.first_out = s.out_c * g / groups;
    row.last_out = s.out_c * (g + 1) / groups;
    for (std::int64_t ky = 0; ky < s.kernel; ++ky) {
      row.sums = memory.sums + (row.first_out * s.patch() + ky * taps) * lanes;
      for (std::int64_t oy = out_rows.begin; oy < out_rows.end; ++oy) {
        const std::int64_t iy = oy * s.stride - s.padding + ky;
        if (iy < 0 || iy >= s.in_h) continue;
        row.x = memory.plane + iy * plane.row_stride();
        row.dy = memory.rows + row_floats(s, oy - out_rows.begin);
        simd::add_weight_sums(row);
      }
    }
  }
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
    sum_rows(s, memory, {begin, end});
  }
}

class DirectConvolution final : public ConvolutionAlgorithm {
 public:
  const char* name() const override { return "direct"; }

  // Work memory must stay in the second cache; a stride would scatter gradients; half a block of
  // images wastes half of every vector.
  bool supports(const ConvolutionCase& c) const override {
    constexpr std::int64_t kMostBytes = 640 * 1024;
    const bool scatters = c.stage == ConvolutionStage::InputGradient && c.shape.stride != 1;
    return c.products == DType::F32 && !scatters && c.shape.padding < c.shape.kernel &&
           c.batch >= simd::image_lanes() / 2 && bytes_of_thread(c) <= kMostBytes;
  }
  std::int64_t scratch_bytes(const ConvolutionCase& c) const override {
    return bytes_of_thread(c) * c.threads;
  }

  void forward(const ConvShape& s, const ConvolutionContext& context, const float* x,
               const float* weight, const float* bias, float* y) const override {
    const simd::DirectWeights weights{.weights = weight,
                                      .kernel = s.kernel,
                                      .in_channels = s.in_c,
                                      .out_channels = s.out_c,
                                      .out_stride = s.patch(),
                                      .tap_stride = s.in_c,
                                      .in_stride = 1};
    correlate(s, context, weights, {x, bias, y, false});
  }

  void input_gradient(const ConvShape& s, const ConvolutionContext& context, const float* dy,
                      const float* weight, float* dx, bool accumulate) const override {
    const simd::DirectWeights weights{.weights = weight,
                                      .kernel = s.kernel,
                                      .in_channels = s.out_c,
                                      .out_channels = s.in_c,
                                      .out_stride = 1,
                                      .tap_stride = s.in_c,
                                      .in_stride = s.patch(),
                                      .turned = true};
    correlate(turned(s), context, weights, {dy, nullptr, dx, accumulate});
  }

  void weight_gradient(const ConvShape& s, const ConvolutionContext& context, const float* x,
                       const float* dy, float* d_weight) const override {
    const int threads = context.pool.size();
    const std::int64_t bytes = carve_weight_gradient({}, s).bytes;
    context.pool.run([&](int t) {
      const Memory memory = carve_weight_gradient(part_of(context.scratch, bytes, t), s);
      std::fill_n(memory.plane, plane_of(s).floats(), 0.0F);
      std::fill_n(memory.sums, s.weights() * simd::image_lanes(), 0.0F);
      for_blocks(context, t, [&](std::int64_t first, std::int64_t images) {
        sum_block(s, memory, x + first * s.in_size(), dy + first * s.out_size(), images);
      });
      simd::sum_lanes(memory.sums, memory.weights, s.weights());
    });
    const Memory first = carve_weight_gradient(context.scratch, s);
    simd::sum_arrays(first.weights, threads, bytes / 4, d_weight, s.weights());
  }
};

}  // namespace

const ConvolutionAlgorithm& direct_convolution() {
  static const DirectConvolution algorithm;
  return algorithm;
}

}  // namespace lab
