#pragma once
// The passes of a convolution by wgmma. The operands are rounded to 16 bits per element first,
// which costs a pass over them and halves what the product reads, several times, from L2. Forward
// keeps its operands for the two gradients.
//
// Limits   bf16 and tf32; in_c and out_c multiples of 64; kernels larger than one pixel, because
//          with one the product reads each operand too rarely; 16-byte aligned arrays; compute
//          capability 9.0 (sm_90a)
// Numerics as in convolution.cuh, with tf32 as in wgmma_product.cuh
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "compute/gpu/cuda/layers/convolution/convolution.cuh"
#include "compute/gpu/cuda/layers/convolution/wgmma_product.cuh"

namespace lab::cuda {

// ---- Kernels

// The largest magnitude of each block's part of an array, as bits. The first blocks take the last
// parts, as in batch norm.
struct LargestKernel {
  struct Args {
    const float* from;
    std::uint32_t* largest;  // [blocks]
    std::int64_t fours, fours_per_block;
  };
  static constexpr const char* kName = "largest magnitude";
  static constexpr int kThreads = 512;
  static constexpr int kMostBlocks = 256;

  static LAB_DEVICE void run(const Args& args) {
    LAB_SHARED(std::uint32_t, of_warps, kThreads / 32);
    const int t = simt::thread_idx().x;
    const int block = simt::grid_dim().x - 1 - simt::block_idx().x;
    const std::int64_t begin = block * args.fours_per_block;
    const std::int64_t end = begin + args.fours_per_block;
    const std::int64_t last = end < args.fours ? end : args.fours;
    std::uint32_t most = 0;
    LAB_UNROLL_BY(4)
    for (std::int64_t at = begin + t; at < last; at += kThreads) {
      const auto four = simt::load_readonly<simt::Uint4>(
          reinterpret_cast<const std::uint32_t*>(args.from) + 4 * at);
      for (const std::uint32_t bits : {four.x, four.y, four.z, four.w}) {
        most = max_of(most, bits & 0x7fffffffU);
      }
    }
    most = simt::warp_max(most);
    if (simt::lane() == 0) of_warps[simt::warp()] = most;
    simt::sync_threads();
    if (t >= 32) return;
    std::uint32_t of_warp = 0;
    if (t < kThreads / 32) of_warp = of_warps[t];
    most = simt::warp_max(of_warp);
    if (t == 0) simt::global(args.largest)[simt::block_idx().x] = most;
  }

 private:
  static LAB_DEVICE std::uint32_t max_of(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }
};

// Rounds 8 elements per thread to bf16, from the last to the first, or, scaled, to FP16, after
// LargestKernel from the first to the last.
template <bool kScaled>
struct RoundKernel {
  struct Args {
    const float* from;
    std::uint16_t* to;
    std::int64_t eighths;
    const std::uint32_t* parts;  // of LargestKernel, for FP16
    int part_count;              // at most kThreads
    std::uint32_t* largest;      // of the array, written for FP16
  };
  static constexpr const char* kName = "rounding of operands";
  static constexpr int kThreads = 256;

  static LAB_DEVICE void run(const Args& args) {
    const int first = simt::block_idx().x, last = simt::grid_dim().x - 1 - first;
    const std::int64_t at = std::int64_t{kScaled ? first : last} * kThreads + simt::thread_idx().x;
    float scale = 1;
    if constexpr (kScaled) scale = power_of_two(scale_of(largest_of(args)));
    if (at >= args.eighths) return;
    float values[8];
    cuda_matmul::unpack(values, simt::load_readonly<simt::Float4>(args.from + 8 * at));
    cuda_matmul::unpack(values + 4, simt::load_readonly<simt::Float4>(args.from + 8 * at + 4));
    std::uint32_t pairs[4];
    LAB_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float low = values[2 * i], high = values[2 * i + 1];
      pairs[i] = kScaled ? simt::pack_fp16(low * scale, high * scale) : simt::pack_bf16(low, high);
    }
    simt::store(args.to + 8 * at, simt::Uint4{pairs[0], pairs[1], pairs[2], pairs[3]});
  }

 private:
  static LAB_DEVICE std::uint32_t largest_of(const Args& args) {
    LAB_SHARED(std::uint32_t, of_warps, kThreads / 32);
    const int t = simt::thread_idx().x;
    std::uint32_t most = 0;
    if (t < args.part_count) most = simt::global(args.parts)[t];
    most = simt::warp_max(most);
    if (simt::lane() == 0) of_warps[simt::warp()] = most;
    simt::sync_threads();
    LAB_UNROLL
    for (int w = 0; w < kThreads / 32; ++w) {
      const std::uint32_t other = of_warps[w];
      most = other > most ? other : most;
    }
    if (simt::block_idx().x == 0 && t == 0) simt::global(args.largest)[0] = most;
    return most;
  }
};

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
        {phase.dy.grid_pixels, pass.in_c, 0, phase.dy.taps}, args.a, args.b,
        [&](const std::uint16_t* a, int row) { return WindowRows(phase.dy, a, row); },
        [&](const std::uint16_t* b, int col) {
          return MatrixColumns<Tile::kN, PhaseWeights>(weight, b, col);
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
        split_of(pass), args.a, args.b,
        [&](const std::uint16_t* a, int row) { return WindowColumns(pass.x, a, row); },
        [&](const std::uint16_t* b, int col) {
          return MatrixColumns<Tile::kN, TermMajorOperand>(dy, b, col);
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
  return is_wgmma_shape(c) && all_aligned(c.x, c.weight, c.y, c.dy, c.dx, c.workspace, c.kept);
}

// A rounded array in memory: its elements, then what is known of the largest.
struct RoundedArray {
  std::int64_t elements;
  bool scaled;

  std::int64_t bytes() const { return largest() + (scaled ? kAlignment + parts_bytes() : 0); }
  Rounded at(std::byte* memory) const {
    return {reinterpret_cast<const std::uint16_t*>(memory),
            reinterpret_cast<const std::uint32_t*>(memory + largest())};
  }
  // Offsets in bytes.
  std::int64_t largest() const { return (elements * 2 + kAlignment - 1) / kAlignment * kAlignment; }
  std::int64_t parts() const { return largest() + kAlignment; }

 private:
  static constexpr std::int64_t kAlignment = 256;
  static constexpr std::int64_t parts_bytes() {
    return LargestKernel::kMostBlocks * static_cast<std::int64_t>(sizeof(std::uint32_t));
  }
};

struct WgmmaArrays {
  RoundedArray x, y, weight;

  explicit WgmmaArrays(const GpuConvolution& c) {
    const bool scaled = c.precision == Precision::TF32;
    x = {c.images * c.in_h * c.in_w * c.in_c, scaled};
    y = {c.images * c.out_h * c.out_w * c.out_c, scaled};
    weight = {c.kernel * c.kernel * c.in_c * c.out_c, scaled};
  }
  // In GpuConvolution::kept.
  Rounded kept_x(const GpuConvolution& c) const { return x.at(c.kept); }
  std::byte* weight_memory(const GpuConvolution& c) const { return c.kept + x.bytes(); }
  Rounded kept_weight(const GpuConvolution& c) const { return weight.at(weight_memory(c)); }
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

// The workspace: dy, which the input gradient may take over from the weight gradient, then the
// partial sums of the weights or of the bias.
inline std::int64_t wgmma_workspace_bytes(const GpuConvolution& c) {
  return WgmmaArrays(c).y.bytes() +
         std::max(wgmma_split(c).partials_bytes(c), bias_partials_bytes(c));
}
// x and weight.
inline std::int64_t wgmma_kept_bytes(const GpuConvolution& c) {
  const WgmmaArrays arrays(c);
  return arrays.x.bytes() + arrays.weight.bytes();
}

template <class Launcher>
Rounded round_to(Launcher& launcher, const float* from, const RoundedArray& array, std::byte* to,
                 GpuStream& stream) {
  const std::int64_t eighths = array.elements / 8;
  auto* elements = reinterpret_cast<std::uint16_t*>(to);
  const LaunchGrid grid{.x = tiles_of(eighths, RoundKernel<true>::kThreads)};
  if (!array.scaled) {
    launcher.template launch<RoundKernel<false>>(
        grid, {from, elements, eighths, nullptr, 0, nullptr}, stream);
    return array.at(to);
  }
  auto* largest = reinterpret_cast<std::uint32_t*>(to + array.largest());
  auto* parts = reinterpret_cast<std::uint32_t*>(to + array.parts());
  constexpr std::int64_t kFewestFours = 4 * LargestKernel::kThreads;  // per block
  const std::int64_t fours = array.elements / 4;
  const int most = std::min(tiles_of(fours, kFewestFours), LargestKernel::kMostBlocks);
  const std::int64_t per_block = tiles_of(fours, most);
  const int blocks = tiles_of(fours, per_block);
  launcher.template launch<LargestKernel>({.x = blocks}, {from, parts, fours, per_block}, stream);
  launcher.template launch<RoundKernel<true>>(
      grid, {from, elements, eighths, parts, blocks, largest}, stream);
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
  const Rounded x = round_to(launcher, c.x, arrays.x, c.kept, stream);
  const Rounded w = round_to(launcher, c.weight, arrays.weight, arrays.weight_memory(c), stream);
  const WgmmaArgs<ConvolutionForwardArgs> args{forward_args(c), x, w};
  launch_wgmma<WgmmaForwardKernel>(launcher, c.precision, args, args.pass.x.grid_pixels, c.out_c, 1,
                                   stream);
}

template <class Launcher>
void wgmma_input_gradient(Launcher& launcher, const GpuConvolution& c, GpuStream& stream) {
  const WgmmaArrays arrays(c);
  const Rounded dy = c.after_weight_gradient
                         ? arrays.y.at(c.workspace)
                         : round_to(launcher, c.dy, arrays.y, c.workspace, stream);
  const Rounded w = arrays.kept_weight(c);
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
  const Rounded dy = round_to(launcher, c.dy, arrays.y, c.workspace, stream);
  auto* partials = reinterpret_cast<float*>(after_dy);
  const WeightGradientArgs pass{windows_of_x(c), c.dy, partials, static_cast<int>(c.out_c),
                                split.terms};
  launch_wgmma<WgmmaWeightGradientKernel>(launcher, c.precision,
                                          WgmmaArgs<WeightGradientArgs>{pass, arrays.kept_x(c), dy},
                                          pass.x.taps, c.out_c, split.splits, stream);
  add_splits(launcher, c, partials, split.splits, stream);
}

}  // namespace lab::cuda
