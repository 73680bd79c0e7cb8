#pragma once
// The passes of a convolution by wgmma. FP32 operands are rounded to 16 bits per element first,
// which costs a pass over them and halves what the product reads, several times, from L2. Forward
// keeps its rounded operands for the two gradients, 2 bytes per element of x and of weight.
//
// Limits   bf16 and tf32; in_c and out_c multiples of 64; with FP32 arrays only kernels larger than
//          one pixel, because with one the product reads each operand too rarely; 16-byte aligned
//          arrays; compute capability 9.0 (sm_90a)
// Numerics as in convolution.cuh, with tf32 as in rounding.cuh
#include <cstddef>
#include <cstdint>

#include "compute/gpu/cuda/layers/convolution/convolution.cuh"
#include "compute/gpu/cuda/layers/convolution/rounding.cuh"
#include "compute/gpu/cuda/layers/convolution/strip_convolution.cuh"
#include "compute/gpu/cuda/layers/convolution/wgmma_product.cuh"

namespace lab::cuda {

// ---- Kernels

// The pass, whose FP32 operands are not read, and its rounded operands.
template <class Pass>
struct WgmmaArgs {
  Pass pass;
  Rounded a, b;
};

template <class Tile>
struct WgmmaKernel {
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kBlocksPerSm = Tile::kBlocksPerSm;
  static constexpr int kDynamicBytes = Tile::kDynamicBytes;
};

// Stages advance by a tap: all taps of 64 channels, whose weights lie near each other, then those
// of the next 64.
LAB_DEVICE int channels_of(const Windows& windows) {
  return static_cast<int>(windows.channels.value);
}

template <class Tile>
struct WgmmaForwardKernel : WgmmaKernel<Tile> {
  using Args = WgmmaArgs<ConvolutionForwardArgs>;
  static constexpr const char* kName = "convolution forward by wgmma";

  static LAB_DEVICE void run(const Args& args) {
    const Windows& x = args.pass.x;
    wgmma_tile<Tile>(
        {x.grid_pixels, args.pass.out_c, 0, x.taps}, args.a, args.b,
        [&](const std::uint16_t* a, int row) { return WindowRows(x, a, row); },
        [&](const std::uint16_t* b, int col) { return MatrixRows<Tile::kN>(b, x.taps, col); },
        ForwardOutput<true, 2>{args.pass}, channels_of(x));
  }
};

// grid.z: phases
template <class Tile>
struct WgmmaInputGradientKernel : WgmmaKernel<Tile> {
  using Args = WgmmaArgs<InputGradientArgs>;
  static constexpr const char* kName = "convolution input gradient by wgmma";

  static LAB_DEVICE void run(const Args& args) {
    const InputGradientArgs& pass = args.pass;
    const GradientPhase phase = pass.phases[simt::block_idx().z];
    const PhaseWeights weight{{nullptr, pass.in_c}, pass, phase};
    wgmma_tile<Tile>(
        {phase.dy.grid_pixels, pass.in_c, 0, phase.dy.taps}, args.a, args.b,
        [&](const std::uint16_t* a, int row) { return WindowRows(phase.dy, a, row); },
        [&](const std::uint16_t* b, int col) {
          return MatrixColumns<Tile::kN, PhaseWeights>(weight, b, col);
        },
        InputGradientOutput<true, 2>{pass, phase}, channels_of(phase.dy));
  }
};

// grid.z: splits. Rows of C are output channels, in the order of the weights.
template <class Tile>
struct WgmmaWeightGradientKernel : WgmmaKernel<Tile> {
  using Args = WgmmaArgs<WeightGradientArgs>;
  static constexpr const char* kName = "convolution weight gradient by wgmma";

  static LAB_DEVICE void run(const Args& args) {
    const WeightGradientArgs& pass = args.pass;
    const TermMajorOperand dy{{nullptr, pass.out_c}};
    wgmma_tile<Tile>(
        split_of(pass, pass.out_c, pass.x.taps), args.a, args.b,
        [&](const std::uint16_t* a, int row) {
          return MatrixColumns<Tile::kM, TermMajorOperand>(dy, a, row);
        },
        [&](const std::uint16_t* b, int col) { return WindowColumns<Tile::kN>(pass.x, b, col); },
        OrderedGradientOutput{pass});
  }
};

// ---- Launches

inline bool has_whole_boxes(const GpuConvolution& c) {
  return c.precision != Precision::F32 && c.in_c % kBox == 0 && c.out_c % kBox == 0;
}
inline bool is_wgmma_shape(const GpuConvolution& c) {
  return has_whole_boxes(c) && (c.kernel > 1 || c.x.is_bf16() || c.y.is_bf16());
}
inline bool takes_wgmma(const GpuConvolution& c) {
  return is_wgmma_shape(c) &&
         all_aligned({c.x.data(), c.weight, c.bf16_weight, c.y.data(), c.dy.data(), c.dx.data(),
                      c.dweight, c.workspace, c.kept});
}

// The rounded arrays: of x, y and the weights; empty for arrays that are bf16 already.
struct WgmmaArrays {
  RoundedArray x, y, weight;

  explicit WgmmaArrays(const GpuConvolution& c) {
    const bool scaled = is_scaled(c.precision);
    if (!c.x.is_bf16()) x = {c.images * c.in_h * c.in_w * c.in_c, scaled};
    if (!c.y.is_bf16()) y = {c.images * c.out_h * c.out_w * c.out_c, scaled};
    if (!uses_bf16_weight(c)) weight = {c.kernel * c.kernel * c.in_c * c.out_c, scaled};
  }
  // In GpuConvolution::kept.
  Rounded kept_x(const GpuConvolution& c) const {
    return c.x.is_bf16() ? Rounded{c.x.bf16(), nullptr} : x.at(c.kept);
  }
  std::byte* weight_memory(const GpuConvolution& c) const { return c.kept + x.bytes(); }
  Rounded kept_weight(const GpuConvolution& c) const {
    return uses_bf16_weight(c) ? Rounded{c.bf16_weight, nullptr} : weight.at(weight_memory(c));
  }
  // In GpuConvolution::workspace, after dy: the partial sums of the weights, then of the bias.
  std::byte* partials(const GpuConvolution& c) const { return c.workspace + y.bytes(); }

  static bool uses_bf16_weight(const GpuConvolution& c) {
    return c.bf16_weight != nullptr && c.precision == Precision::BF16;
  }
};

// Calls work(Tile) for the widest tile whose columns divide n.
template <class Work>
void with_wgmma_tile(Precision precision, std::int64_t n, const Work& work) {
  with_scaled(precision, [&]<bool kScaled>() {
    n % 128 == 0 ? work.template operator()<WgmmaTile<kScaled, 128>>()
                 : work.template operator()<WgmmaTile<kScaled, 64>>();
  });
}

inline WeightSplit wgmma_split(const GpuConvolution& c, int multiprocessors) {
  if (is_strip_shape(c)) return strip_split(c, multiprocessors);
  constexpr SplitCosts kCosts{.step_terms = kBox, .fewest_terms = 512, .overhead_terms = 384};
  WeightSplit split;
  with_wgmma_tile(c.precision, taps_of(c),
                  [&]<class Tile>() { split = split_for<Tile>(c, kCosts, c.out_c, taps_of(c)); });
  return split;
}

// The workspace: dy, which the input gradient may take over from the weight gradient, then the
// partial sums of the weights, then those of the bias.
inline std::int64_t wgmma_bias_partials(const GpuConvolution& c, int multiprocessors) {
  constexpr std::int64_t kAlignment = 256;
  const std::int64_t end =
      WgmmaArrays(c).y.bytes() + wgmma_split(c, multiprocessors).partials_bytes(c);
  return (end + kAlignment - 1) / kAlignment * kAlignment;
}
inline std::int64_t wgmma_workspace_bytes(const GpuConvolution& c, int multiprocessors) {
  return wgmma_bias_partials(c, multiprocessors) + bias_partials_bytes(c);
}
// x and weight.
inline std::int64_t wgmma_kept_bytes(const GpuConvolution& c) {
  const WgmmaArrays arrays(c);
  return arrays.x.bytes() + arrays.weight.bytes();
}

// Launches Kernel<Tile> for C [m, n], `depth` times at once.
template <template <class> class Kernel, class Launcher, class Pass>
void launch_wgmma(Launcher& launcher, Precision precision, const WgmmaArgs<Pass>& args,
                  std::int64_t m, std::int64_t n, int depth, GpuStream& stream) {
  with_wgmma_tile(precision, n, [&]<class Tile>() {
    launcher.template launch<Kernel<Tile>>({.x = tiles_of_product<Tile>(m, n), .z = depth}, args,
                                           stream);
  });
}

// x or dy: rounded, unless it is bf16 already.
template <class Launcher>
Rounded round_images(Launcher& launcher, ConstGpuActivations from,
                     const std::uint32_t* known_largest, const RoundedArray& array, std::byte* to,
                     GpuStream& stream) {
  if (from.is_bf16()) return {from.bf16(), nullptr};
  return round_to(launcher, from.f32(), known_largest, array, to, stream);
}

template <class Launcher>
void wgmma_forward(Launcher& launcher, const GpuConvolution& c, GpuStream& stream) {
  const WgmmaArrays arrays(c);
  const Rounded x = round_images(launcher, c.x, c.x_largest, arrays.x, c.kept, stream);
  if (!WgmmaArrays::uses_bf16_weight(c)) {
    round_to(launcher, c.weight, nullptr, arrays.weight, arrays.weight_memory(c), stream);
  }
  const Rounded w = arrays.kept_weight(c);
  if (is_strip_shape(c)) {
    return launch_strips<false>(launcher, c, forward_args(c), x, w, stream);
  }
  const WgmmaArgs<ConvolutionForwardArgs> args{forward_args(c), x, w};
  launch_wgmma<WgmmaForwardKernel>(launcher, c.precision, args, args.pass.x.grid_pixels, c.out_c, 1,
                                   stream);
}

template <class Launcher>
void wgmma_input_gradient(Launcher& launcher, const GpuConvolution& c, GpuStream& stream) {
  const WgmmaArrays arrays(c);
  const bool has_rounded = c.after_weight_gradient && !c.dy.is_bf16();
  const Rounded dy =
      has_rounded ? arrays.y.at(c.workspace)
                  : round_images(launcher, c.dy, c.dy_largest, arrays.y, c.workspace, stream);
  const Rounded w = arrays.kept_weight(c);
  for_phases(c, [&](const InputGradientArgs& pass, std::int64_t pixels, int phases) {
    if (is_strip_shape(c)) return launch_strips<true>(launcher, c, pass, dy, w, stream);
    launch_wgmma<WgmmaInputGradientKernel>(launcher, c.precision,
                                           WgmmaArgs<InputGradientArgs>{pass, dy, w}, pixels,
                                           c.in_c, phases, stream);
  });
}

template <class Launcher>
void wgmma_weight_gradient(Launcher& launcher, const GpuConvolution& c, GpuStream& stream) {
  const WgmmaArrays arrays(c);
  const WeightSplit split = wgmma_split(c, launcher.multiprocessors());
  const Rounded x = arrays.kept_x(c);
  const Rounded dy = round_images(launcher, c.dy, c.dy_largest, arrays.y, c.workspace, stream);
  auto* partials = reinterpret_cast<float*>(arrays.partials(c));
  const WeightGradientArgs pass{windows_of_x(c), c.dy.f32(), partials, static_cast<int>(c.out_c),
                                split.terms};
  if (is_strip_shape(c)) {
    strip_weight_gradient(launcher, c, pass, x, dy, split, stream);
  } else {
    launch_wgmma<WgmmaWeightGradientKernel>(launcher, c.precision,
                                            WgmmaArgs<WeightGradientArgs>{pass, dy, x}, c.out_c,
                                            taps_of(c), split.splits, stream);
  }
  add_partials(launcher, partials, c.dweight, split.splits, c.out_c * taps_of(c), stream);
}

}  // namespace lab::cuda
