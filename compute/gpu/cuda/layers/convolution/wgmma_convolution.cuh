#pragma once
// The passes of a convolution by wgmma. The operands are rounded in the workspace first, which
// costs a pass over them; in bf16 it halves what the product reads, several times, from L2.
//
// Limits   bf16 and tf32; in_c and out_c multiples of 64; kernels larger than one pixel, because
//          with one the product reads each operand too rarely; 16-byte aligned arrays; compute
//          capability 9.0 (sm_90a)
// Numerics as in convolution.cuh, for values below the largest of bf16
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "compute/gpu/cuda/layers/convolution/convolution.cuh"
#include "compute/gpu/cuda/layers/convolution/wgmma_product.cuh"

namespace lab::cuda {

// ---- Kernels

// Rounds 8 elements per thread to bf16, or to tf32 in two parts, the low one `to_low` elements
// after the high one.
template <Precision kPrecision>
struct RoundKernel {
  struct Args {
    const float* from;
    Bf16* to;
    std::int64_t to_low, eighths;
  };
  static constexpr const char* kName = "rounding of operands";
  static constexpr int kThreads = 256;

  static LAB_DEVICE void run(const Args& args) {
    const std::int64_t at = std::int64_t{simt::block_idx().x} * kThreads + simt::thread_idx().x;
    if (at >= args.eighths) return;
    float values[8];
    cuda_matmul::unpack(values, simt::load_readonly<simt::Float4>(args.from + 8 * at));
    cuda_matmul::unpack(values + 4, simt::load_readonly<simt::Float4>(args.from + 8 * at + 4));
    if constexpr (kPrecision == Precision::TF32) {
      LAB_UNROLL
      for (float& value : values) value = simt::float_of(simt::to_tf32(value));
    }
    std::uint32_t pairs[4];
    LAB_UNROLL
    for (int i = 0; i < 4; ++i) pairs[i] = simt::pack_bf16(values[2 * i], values[2 * i + 1]);
    simt::store(args.to + 8 * at, simt::Uint4{pairs[0], pairs[1], pairs[2], pairs[3]});
    if constexpr (kPrecision == Precision::TF32) {
      LAB_UNROLL
      for (int i = 0; i < 4; ++i) {
        const float low = values[2 * i] - simt::float_of(pairs[i] << 16);
        const float high = values[2 * i + 1] - simt::float_of(pairs[i] & 0xffff0000U);
        pairs[i] = simt::pack_bf16(low, high);
      }
      simt::store(args.to + args.to_low + 8 * at,
                  simt::Uint4{pairs[0], pairs[1], pairs[2], pairs[3]});
    }
  }
};

// The pass, whose FP32 operands are not read, and its rounded operands.
template <class Pass>
struct WgmmaArgs {
  Pass pass;
  Parts a, b;
};

template <class Tile>
struct WgmmaKernel {
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kBlocksPerSm = Tile::kBlocksPerSm;
  static constexpr int kDynamicBytes = Tile::kDynamicBytes;
};

template <class Tile>
struct WgmmaForwardKernel : WgmmaKernel<Tile> {
  using Args = WgmmaArgs<ConvolutionForwardArgs>;
  static constexpr const char* kName = "convolution forward by wgmma";

  static LAB_DEVICE void run(const Args& args) {
    const Windows& x = args.pass.x;
    wgmma_tile<Tile>(
        {x.grid_pixels, args.pass.out_c, 0, x.taps},
        [&](int row) { return WindowRows(x, args.a, row); },
        [&](int col) { return MatrixRows<Tile::kN>(args.b, x.taps, col); },
        [&](int row, int col, const float* sums) {
          write_forward<true, 2>(args.pass, row, col, sums);
        });
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
        {phase.dy.grid_pixels, pass.in_c, 0, phase.dy.taps},
        [&](int row) { return WindowRows(phase.dy, args.a, row); },
        [&](int col) {
          return MatrixColumns<Tile::kParts, Tile::kN, PhaseWeights>(weight, args.b, col);
        },
        [&](int row, int col, const float* sums) {
          write_input_gradient<true, 2>(pass, phase, row, col, sums);
        });
  }
};

// grid.z: splits
template <class Tile>
struct WgmmaWeightGradientKernel : WgmmaKernel<Tile> {
  using Args = WgmmaArgs<WeightGradientArgs>;
  static constexpr const char* kName = "convolution weight gradient by wgmma";

  static LAB_DEVICE void run(const Args& args) {
    const WeightGradientArgs& pass = args.pass;
    const TermMajorOperand dy{{nullptr, pass.out_c}};
    wgmma_tile<Tile>(
        split_of(pass), [&](int row) { return WindowColumns<Tile::kParts>(pass.x, args.a, row); },
        [&](int col) {
          return MatrixColumns<Tile::kParts, Tile::kN, TermMajorOperand>(dy, args.b, col);
        },
        [&](int row, int col, const float* sums) {
          write_weight_gradient<true, 2>(pass, row, col, sums);
        });
  }
};

// ---- Launches

inline bool is_wgmma_shape(const GpuConvolution& c) {
  return c.precision != Precision::F32 && c.kernel > 1 && c.in_c % kBox == 0 && c.out_c % kBox == 0;
}
inline bool takes_wgmma(const GpuConvolution& c) {
  return is_wgmma_shape(c) && all_aligned(c.x, c.weight, c.y, c.dy, c.dx, c.workspace);
}

// A rounded array in the workspace.
struct RoundedArray {
  std::int64_t elements, parts;

  std::int64_t bytes() const { return parts * to_low() * 2; }
  // Elements from a part to the next; both begin at multiples of 256 bytes.
  std::int64_t to_low() const { return (elements + 127) / 128 * 128; }
  Parts at(std::byte* memory) const {
    return {reinterpret_cast<const Bf16*>(memory), parts == 2 ? to_low() : 0};
  }
};

struct WgmmaArrays {
  RoundedArray x, y, weight;

  explicit WgmmaArrays(const GpuConvolution& c) {
    const int parts = c.precision == Precision::TF32 ? 2 : 1;
    x = {c.images * c.in_h * c.in_w * c.in_c, parts};
    y = {c.images * c.out_h * c.out_w * c.out_c, parts};
    weight = {c.kernel * c.kernel * c.in_c * c.out_c, parts};
  }
};

// Calls work(Tile) for the widest tile whose columns divide n.
template <class Work>
void with_wgmma_tile(Precision precision, std::int64_t n, const Work& work) {
  const bool wide = n % 128 == 0;
  if (precision == Precision::TF32) {
    wide ? work.template operator()<WgmmaTile<Precision::TF32, 128>>()
         : work.template operator()<WgmmaTile<Precision::TF32, 64>>();
  } else {
    wide ? work.template operator()<WgmmaTile<Precision::BF16, 128>>()
         : work.template operator()<WgmmaTile<Precision::BF16, 64>>();
  }
}

inline WeightSplit wgmma_split(const GpuConvolution& c) {
  constexpr SplitCosts kCosts{.step_terms = kBox, .fewest_terms = 512, .overhead_terms = 384};
  WeightSplit split;
  with_wgmma_tile(c.precision, c.out_c, [&]<class Tile>() { split = split_for<Tile>(c, kCosts); });
  return split;
}

// The workspace of the weight gradient, which needs the most: dy, which the input gradient may take
// over, x, then the partial sums. The sums of the bias come after dy.
inline std::int64_t wgmma_workspace_bytes(const GpuConvolution& c) {
  const WgmmaArrays arrays(c);
  const std::int64_t sums = arrays.x.bytes() + wgmma_split(c).partials_bytes(c);
  const std::int64_t bias = convolution_workspace_bytes(c);
  return arrays.y.bytes() + std::max({sums, bias, arrays.weight.bytes()});
}

template <class Launcher>
Parts round_to(Launcher& launcher, const float* from, const RoundedArray& array, std::byte* to,
               GpuStream& stream) {
  const std::int64_t eighths = array.elements / 8;
  const auto launch = [&]<Precision kPrecision>() {
    using Kernel = RoundKernel<kPrecision>;
    launcher.template launch<Kernel>({.x = tiles_of(eighths, Kernel::kThreads)},
                                     {from, reinterpret_cast<Bf16*>(to), array.to_low(), eighths},
                                     stream);
  };
  if (array.parts == 2) {
    launch.template operator()<Precision::TF32>();
  } else {
    launch.template operator()<Precision::BF16>();
  }
  return array.at(to);
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

template <class Launcher>
void wgmma_forward(Launcher& launcher, const GpuConvolution& c, GpuStream& stream) {
  const WgmmaArrays arrays(c);
  const Parts x = round_to(launcher, c.x, arrays.x, c.workspace, stream);
  const Parts w =
      round_to(launcher, c.weight, arrays.weight, c.workspace + arrays.x.bytes(), stream);
  const WgmmaArgs<ConvolutionForwardArgs> args{forward_args(c), x, w};
  launch_wgmma<WgmmaForwardKernel>(launcher, c.precision, args, args.pass.x.grid_pixels, c.out_c, 1,
                                   stream);
}

template <class Launcher>
void wgmma_input_gradient(Launcher& launcher, const GpuConvolution& c, GpuStream& stream) {
  const WgmmaArrays arrays(c);
  const Parts dy = c.after_weight_gradient
                       ? arrays.y.at(c.workspace)
                       : round_to(launcher, c.dy, arrays.y, c.workspace, stream);
  const Parts w =
      round_to(launcher, c.weight, arrays.weight, c.workspace + arrays.y.bytes(), stream);
  for_phases(c, [&](const InputGradientArgs& pass, std::int64_t pixels, int phases) {
    launch_wgmma<WgmmaInputGradientKernel>(launcher, c.precision,
                                           WgmmaArgs<InputGradientArgs>{pass, dy, w}, pixels,
                                           c.in_c, phases, stream);
  });
}

template <class Launcher>
void wgmma_weight_gradient(Launcher& launcher, const GpuConvolution& c, GpuStream& stream) {
  const WgmmaArrays arrays(c);
  const WeightSplit split = wgmma_split(c);
  std::byte* const after_dy = c.workspace + arrays.y.bytes();
  const Parts dy = round_to(launcher, c.dy, arrays.y, c.workspace, stream);
  const Parts x = round_to(launcher, c.x, arrays.x, after_dy, stream);
  auto* partials = reinterpret_cast<float*>(after_dy + arrays.x.bytes());
  const WeightGradientArgs pass{windows_of_x(c), c.dy, partials, static_cast<int>(c.out_c),
                                split.terms};
  launch_wgmma<WgmmaWeightGradientKernel>(launcher, c.precision,
                                          WgmmaArgs<WeightGradientArgs>{pass, x, dy}, pass.x.taps,
                                          c.out_c, split.splits, stream);
  finish_weight_gradient(launcher, c, partials, split.splits, after_dy, stream);
}

}  // namespace lab::cuda
