#pragma once
// Batch normalisation with a fused residual and relu.
//   x, y, residual, dy, dx, dresidual [rows, channels]   all other arrays [channels]
//
// Forward   the sums of each channel, then its mean and deviation, then
//           y = relu((x - mean) * weight / deviation + bias + residual)
// Backward  with g = dy, 0 where relu gave y <= 0: the sums of g and g * (x - mean), then
//           dx = weight / deviation * (g - mean(g) - (x - mean) * mean(g * (x - mean)) / variance)
// Work      forward reads x twice, and the residual, and writes y; backward reads x and dy twice
//           and writes dx, and with a residual writes dresidual. With relu and a residual, forward
//           keeps a bit per element that says where y > 0, which backward reads twice instead of y.
//           With 64 channels at batch 256, an FP32 array of ResNet-18 has 51 MB: 46 us and 77 us at
//           the 3.35 TB/s of an H100, with a residual 61 us and 94 us; half of that with bf16
// Numerics  sums in FP64, those of the forward pass relative to the first row, so that a mean far
//           from zero costs no digits of the variance; of bf16 arrays, a thread's own sums in FP32.
//           The rest in FP32
// Source    Ioffe and Szegedy, "Batch Normalization", 2015; gradient as in section 3
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/layers/columns.cuh"
#include "compute/gpu/cuda/layers/largest.cuh"
#include "compute/gpu/cuda/layers/launch_grid.h"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

// X and Y below are the types of the elements of x and dx, and of all others: float, or
// std::uint16_t for bf16.

// ---- Forward

template <int kWidth, class X>
struct NormSumsKernel {
  struct Args {
    const X* x;
    double* partials;  // [chunks, 2, channels]
    ColumnPlan plan;
  };
  static constexpr const char* kName = "batch norm sums";
  static constexpr int kThreads = kColumnThreads;

  static LAB_DEVICE void run(const Args& args) {
    const auto place = ColumnPlace::of<kWidth>(args.plan);
    using Sum = ThreadSum<X>;
    Sum sums[2][kWidth] = {};
    if (place.column < args.plan.columns) {
      const auto x = simt::global(args.x) + place.column;
      float first[kWidth];
      read_columns(first, x);
      LAB_UNROLL_BY(4)
      for (std::int64_t row = place.row; row < place.end; row += args.plan.down) {
        float values[kWidth];
        read_columns(values, x + row * args.plan.columns);
        LAB_UNROLL
        for (int e = 0; e < kWidth; ++e) {
          const Sum v = static_cast<Sum>(values[e]) - static_cast<Sum>(first[e]);
          sums[0][e] += v;
          sums[1][e] += v * v;
        }
      }
    }
    write_block_sums(sums, args.partials, args.plan);
  }
};

struct NormStatistics {
  const float* left_bias;
  float* running_mean;
  float* running_variance;
  float* mean;
  float* inverse_deviation;
  std::uint32_t* largest;  // null, or set to 0 for the pass that comes next
  float eps;
};

// Called by every block.
LAB_DEVICE void clear_largest(std::uint32_t* largest) {
  if (largest != nullptr && simt::block_idx().x == 0 && simt::thread_idx().x == 0) {
    simt::global(largest)[0] = 0;
  }
}
// Called by all threads, each with the largest of its own elements.
LAB_DEVICE void add_largest(std::uint32_t* largest, std::uint32_t mine) {
  if (largest == nullptr) return;
  const std::uint32_t most = block_largest<kColumnThreads>(mine);
  if (simt::thread_idx().x == 0) simt::atomic_max(simt::global(largest), most);
}

LAB_DEVICE double left_bias_of(const NormStatistics& to, int channel) {
  if (to.left_bias == nullptr) return 0;
  const float bias = simt::global(to.left_bias)[channel];
  return static_cast<double>(bias);
}

template <class X>
struct NormStatisticsKernel {
  struct Args {
    const X* x;
    const double* partials;  // of NormSumsKernel
    int chunks, rows, channels;
    float momentum;
    NormStatistics to;
  };
  static constexpr const char* kName = "batch norm statistics";
  static constexpr int kThreads = kColumnThreads;

  static LAB_DEVICE void run(const Args& args) {
    clear_largest(args.to.largest);
    const auto place = TotalPlace::of();
    double sums[2];
    total_sums(sums, args.partials, args.chunks, args.channels, place);
    const int c = place.column;
    if (!place.has_total(args.channels)) return;
    const NormStatistics& to = args.to;
    const float first = element_at(simt::global(args.x), c);
    const double n = args.rows;
    const double shift = sums[0] / n;
    const double mean = static_cast<double>(first) + shift;
    const double spread = sums[1] / n - shift * shift;
    const double variance = spread < 0 ? 0 : spread;
    simt::global(to.mean)[c] = static_cast<float>(mean);
    simt::global(to.inverse_deviation)[c] =
        static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(to.eps)));
    const double unbiased = args.rows > 1 ? n / (n - 1) : 1.0;
    move(to.running_mean, c, mean + left_bias_of(to, c), args.momentum);
    move(to.running_variance, c, variance * unbiased, args.momentum);
  }

 private:
  static LAB_DEVICE void move(float* values, int c, double to, float momentum) {
    const auto all = simt::global(values);
    const float before = all[c];
    const auto share = static_cast<double>(momentum);
    all[c] = static_cast<float>((1 - share) * static_cast<double>(before) + share * to);
  }
};

// The running statistics as those of the pass; one thread per channel.
struct NormRunningKernel {
  struct Args {
    NormStatistics to;
    int channels;
  };
  static constexpr const char* kName = "batch norm running statistics";
  static constexpr int kThreads = kColumnThreads;

  static LAB_DEVICE void run(const Args& args) {
    clear_largest(args.to.largest);
    const int c = simt::block_idx().x * kThreads + simt::thread_idx().x;
    if (c >= args.channels) return;
    const float mean = simt::global(args.to.running_mean)[c];
    const float variance = simt::global(args.to.running_variance)[c];
    simt::global(args.to.mean)[c] =
        static_cast<float>(static_cast<double>(mean) - left_bias_of(args.to, c));
    simt::global(args.to.inverse_deviation)[c] = static_cast<float>(
        1.0 / std::sqrt(static_cast<double>(variance) + static_cast<double>(args.to.eps)));
  }
};

// What is known of a thread's channels.
template <int kWidth>
struct NormChannels {
  float mean[kWidth], scale[kWidth], bias[kWidth];

  template <class Args>
  LAB_DEVICE NormChannels(const Args& args, int column) {
    float deviation[kWidth];
    read_columns(mean, simt::global(args.mean) + column);
    read_columns(scale, simt::global(args.weight) + column);
    read_columns(deviation, simt::global(args.inverse_deviation) + column);
    read_columns(bias, simt::global(args.bias) + column);
    LAB_UNROLL
    for (int e = 0; e < kWidth; ++e) scale[e] *= deviation[e];
  }
  // Before the residual and relu; the same bits in forward and backward.
  LAB_DEVICE float normalised(float x, int e) const {
    return simt::fma(x - mean[e], scale[e], bias[e]);
  }
};

template <int kWidth, class X, class Y>
struct NormaliseKernel {
  struct Args {
    const X* x;
    const Y* residual;
    const float* weight;
    const float* bias;
    const float* mean;
    const float* inverse_deviation;
    Y* y;
    std::uint8_t* positive;  // as in NormGradientArgs; null: not written
    std::uint32_t* largest;
    bool relu;
    ColumnPlan plan;
  };
  static constexpr const char* kName = "batch norm";
  static constexpr int kThreads = kColumnThreads;

  static LAB_DEVICE void run(const Args& args) {
    const auto place = ColumnPlace::of<kWidth>(args.plan);
    std::uint32_t most = 0;
    if (place.column < args.plan.columns) normalise(args, place, most);
    add_largest(args.largest, most);
  }

 private:
  static LAB_DEVICE void normalise(const Args& args, const ColumnPlace& place,
                                   std::uint32_t& most) {
    const NormChannels<kWidth> channels(args, place.column);
    LAB_UNROLL_BY(2)
    for (std::int64_t row = place.row; row < place.end; row += args.plan.down) {
      const std::int64_t at = row * args.plan.columns + place.column;
      float values[kWidth], residual[kWidth] = {};
      read_columns(values, simt::global(args.x) + at);
      if (args.residual != nullptr) read_columns(residual, simt::global(args.residual) + at);
      std::uint32_t positive = 0;
      LAB_UNROLL
      for (int e = 0; e < kWidth; ++e) {
        const float v = channels.normalised(values[e], e) + residual[e];
        if (!(v <= 0)) positive |= 1U << e;
        values[e] = args.relu && v < 0 ? 0.0F : v;
        most = larger(most, magnitude_bits(values[e]));
      }
      write_columns(simt::global(args.y) + at, values);
      if (args.positive != nullptr) {
        simt::global(args.positive)[at / kWidth] = static_cast<std::uint8_t>(positive);
      }
    }
  }
};

// ---- Backward

// Whose registers fit, per SM. Of 8 FP32 columns, a thread has twice as many as of 4.
template <int kWidth, class X, class Y>
inline constexpr int kNormGradientBlocks = kWidth == kBf16Width && (std::is_same_v<X, float> ||
                                                                    std::is_same_v<Y, float>)
                                               ? 2
                                               : 3;

template <class X, class Y>
struct NormGradientArgs {
  const X* x;
  const std::uint8_t* positive;  // a byte per kWidth elements, and in it a bit per element: y > 0
  const Y* y;                    // read with relu and a residual, if positive is null
  const Y* dy;
  const float* weight;
  const float* bias;
  const float* mean;
  const float* inverse_deviation;
  const float* mean_gradient;  // [channels], mean of g
  const float* slope;          // [channels], mean of g * (x - mean) / variance
  X* dx;
  Y* dresidual;
  double* partials;  // [chunks, 2, channels]
  std::uint32_t* largest;
  bool relu;
  ColumnPlan plan;
};

// g = dy, 0 where relu gave y <= 0. Without a residual, y is computed again from x, as
// NormaliseKernel did, because x is read in any case.
template <int kWidth, class X, class Y>
LAB_DEVICE void read_gradient(float (&g)[kWidth], const float (&x)[kWidth],
                              const NormChannels<kWidth>& channels,
                              const NormGradientArgs<X, Y>& args, std::int64_t at) {
  read_columns(g, simt::global(args.dy) + at);
  if (!args.relu) return;
  if (args.positive != nullptr) {
    const std::uint8_t positive = simt::global(args.positive)[at / kWidth];
    LAB_UNROLL
    for (int e = 0; e < kWidth; ++e) g[e] = (positive >> e & 1) == 0 ? 0.0F : g[e];
    return;
  }
  float y[kWidth];
  if (args.y != nullptr) {
    read_columns(y, simt::global(args.y) + at);
  } else {
    LAB_UNROLL
    for (int e = 0; e < kWidth; ++e) {
      y[e] = channels.normalised(x[e], e);
    }
  }
  LAB_UNROLL
  for (int e = 0; e < kWidth; ++e) g[e] = y[e] <= 0 ? 0.0F : g[e];
}

template <int kWidth, class X, class Y>
struct NormGradientSumsKernel {
  using Args = NormGradientArgs<X, Y>;
  static constexpr const char* kName = "batch norm gradient sums";
  static constexpr int kThreads = kColumnThreads;
  static constexpr int kBlocksPerSm = kNormGradientBlocks<kWidth, X, Y>;

  static LAB_DEVICE void run(const Args& args) {
    const auto place = ColumnPlace::of<kWidth>(args.plan);
    using Sum = ThreadSum<X>;
    Sum sums[2][kWidth] = {};
    if (place.column < args.plan.columns) {
      const NormChannels<kWidth> channels(args, place.column);
      LAB_UNROLL_BY(2)
      for (std::int64_t row = place.row; row < place.end; row += args.plan.down) {
        const std::int64_t at = row * args.plan.columns + place.column;
        float g[kWidth], x[kWidth];
        read_columns(x, simt::global(args.x) + at);
        read_gradient(g, x, channels, args, at);
        LAB_UNROLL
        for (int e = 0; e < kWidth; ++e) {
          sums[0][e] += static_cast<Sum>(g[e]);
          sums[1][e] += static_cast<Sum>(g[e]) * static_cast<Sum>(x[e] - channels.mean[e]);
        }
      }
    }
    write_block_sums(sums, args.partials, args.plan);
  }
};

struct NormGradientStatisticsKernel {
  struct Args {
    const double* partials;  // of NormGradientSumsKernel
    int chunks, rows, channels;
    const float* inverse_deviation;
    float* mean_gradient;
    float* slope;
    float* dweight;
    float* dbias;
    std::uint32_t* largest;
  };
  static constexpr const char* kName = "batch norm gradient statistics";
  static constexpr int kThreads = kColumnThreads;

  static LAB_DEVICE void run(const Args& args) {
    clear_largest(args.largest);
    const auto place = TotalPlace::of();
    double sums[2];
    total_sums(sums, args.partials, args.chunks, args.channels, place);
    const int c = place.column;
    if (!place.has_total(args.channels)) return;
    const float inverse = simt::global(args.inverse_deviation)[c];
    const auto deviation = static_cast<double>(inverse);
    const double share = 1.0 / args.rows;
    simt::global(args.dbias)[c] = static_cast<float>(sums[0]);
    simt::global(args.dweight)[c] = static_cast<float>(sums[1] * deviation);
    simt::global(args.mean_gradient)[c] = static_cast<float>(sums[0] * share);
    simt::global(args.slope)[c] = static_cast<float>(sums[1] * share * deviation * deviation);
  }
};

template <int kWidth, class X, class Y>
struct NormGradientKernel {
  using Args = NormGradientArgs<X, Y>;
  static constexpr const char* kName = "batch norm backward";
  static constexpr int kThreads = kColumnThreads;
  static constexpr int kBlocksPerSm = kNormGradientBlocks<kWidth, X, Y>;

  static LAB_DEVICE void run(const Args& args) {
    const auto place = ColumnPlace::of<kWidth>(args.plan);
    std::uint32_t most = 0;
    if (place.column < args.plan.columns) differentiate(args, place, most);
    add_largest(args.largest, most);
  }

 private:
  static LAB_DEVICE void differentiate(const Args& args, const ColumnPlace& place,
                                       std::uint32_t& most) {
    const NormChannels<kWidth> channels(args, place.column);
    float mean_g[kWidth], slope[kWidth];
    read_columns(mean_g, simt::global(args.mean_gradient) + place.column);
    read_columns(slope, simt::global(args.slope) + place.column);
    LAB_UNROLL_BY(2)
    for (std::int64_t row = place.row; row < place.end; row += args.plan.down) {
      const std::int64_t at = row * args.plan.columns + place.column;
      float g[kWidth], x[kWidth];
      read_columns(x, simt::global(args.x) + at);
      read_gradient(g, x, channels, args, at);
      if (args.dx != nullptr) {
        LAB_UNROLL
        for (int e = 0; e < kWidth; ++e) {
          const float spread = simt::fma(x[e] - channels.mean[e], slope[e], mean_g[e]);
          x[e] = channels.scale[e] * (g[e] - spread);
          most = larger(most, magnitude_bits(x[e]));
        }
        write_columns(simt::global(args.dx) + at, x);
      }
      if (args.dresidual != nullptr) write_columns(simt::global(args.dresidual) + at, g);
    }
  }
};

// ---- Launches

// The workspace: partial sums, then two values per channel.
inline std::int64_t norm_partials_bytes(const GpuBatchNorm& norm) {
  return most_column_sums_bytes(norm.rows, norm.channels, 2);
}
inline std::int64_t norm_workspace_bytes(const GpuBatchNorm& norm) {
  return norm_partials_bytes(norm) + 2 * norm.channels * static_cast<std::int64_t>(sizeof(float));
}

// Sums are taken from the last row to the first, so that the pass after them, which begins with the
// first, finds what they read last in L2.
inline ColumnPlan norm_sums_plan(const GpuBatchNorm& norm, int width) {
  ColumnPlan plan = column_sums_plan(norm.rows, norm.channels, width);
  plan.last_first = true;
  return plan;
}

// As many blocks as there are, of bf16 three times those that an H100 runs at once: a thread reads
// the values of its channels, which are twice as many, for more rows.
inline ColumnPlan normalise_plan(const GpuBatchNorm& norm, int width) {
  constexpr int kRowsPerThread = 4, kMost = 1 << 20, kMostBf16 = 3 * 3 * 132;
  return column_plan(norm.rows, norm.channels, width, kRowsPerThread,
                     width == kBf16Width ? kMostBf16 : kMost);
}

// The bits of NormGradientArgs::positive, in the widest accesses that the types allow.
inline std::int64_t norm_kept_bytes(const GpuBatchNorm& norm) {
  const bool bf16 = norm.x.is_bf16() || norm.y.is_bf16();
  return norm.rows * norm.channels /
         (bf16 ? kBf16Width : column_width(norm.channels, /*aligned=*/true));
}
// Where they are. Null if there is no such memory, or none for the narrower accesses of arrays
// that are not aligned.
inline std::uint8_t* norm_positive(const GpuBatchNorm& norm, int width) {
  const bool kept = norm.relu && norm.residual != nullptr && norm.kept != nullptr &&
                    norm.rows * norm.channels / width <= norm_kept_bytes(norm);
  return kept ? reinterpret_cast<std::uint8_t*>(norm.kept) : nullptr;
}

// Calls work.operator()<kWidth, X, Y>() for the types of the arrays. The slope array in the
// workspace is aligned with the others if channels is a multiple of 4.
template <class Work>
void with_norm_types(const GpuBatchNorm& norm, const Work& work) {
  using Bf16 = std::uint16_t;
  const bool aligned =
      all_aligned({norm.x.data(), norm.residual.data(), norm.weight, norm.bias, norm.mean,
                   norm.inverse_deviation, norm.y.data(), norm.dy.data(), norm.dx.data(),
                   norm.dresidual.data(), norm.workspace});
  const bool bf16_x = norm.x.is_bf16(), bf16_y = norm.y.is_bf16();
  if (bf16_x && bf16_y) {
    work.template operator()<kBf16Width, Bf16, Bf16>();
  } else if (bf16_x) {
    work.template operator()<kBf16Width, Bf16, float>();
  } else if (bf16_y) {
    work.template operator()<kBf16Width, float, Bf16>();
  } else if (column_width(norm.channels, aligned) == 4) {
    work.template operator()<4, float, float>();
  } else {
    work.template operator()<1, float, float>();
  }
}

template <class Launcher>
void batch_norm_forward(Launcher& launcher, const GpuBatchNorm& norm, GpuStream& stream) {
  const int channels = static_cast<int>(norm.channels);
  const NormStatistics to{norm.left_bias, norm.running_mean,      norm.running_variance,
                          norm.mean,      norm.inverse_deviation, norm.y_largest,
                          norm.eps};
  with_norm_types(norm, [&]<int kWidth, class X, class Y>() {
    const X* const x = norm.x.template as<X>();
    if (norm.training) {
      auto* partials = reinterpret_cast<double*>(norm.workspace);
      const ColumnPlan plan = norm_sums_plan(norm, kWidth);
      launcher.template launch<NormSumsKernel<kWidth, X>>(plan.grid(), {x, partials, plan}, stream);
      launcher.template launch<NormStatisticsKernel<X>>(
          total_grid(plan), {x, partials, plan.chunks, plan.rows, channels, norm.momentum, to},
          stream);
    } else {
      launcher.template launch<NormRunningKernel>({.x = tiles_of(channels, kColumnThreads)},
                                                  {to, channels}, stream);
    }
    const ColumnPlan plan = normalise_plan(norm, kWidth);
    launcher.template launch<NormaliseKernel<kWidth, X, Y>>(
        plan.grid(),
        {x, norm.residual.template as<Y>(), norm.weight, norm.bias, norm.mean,
         norm.inverse_deviation, norm.y.template as<Y>(), norm_positive(norm, kWidth),
         norm.y_largest, norm.relu, plan},
        stream);
  });
}

template <class Launcher>
void batch_norm_backward(Launcher& launcher, const GpuBatchNorm& norm, GpuStream& stream) {
  const int channels = static_cast<int>(norm.channels);
  auto* partials = reinterpret_cast<double*>(norm.workspace);
  auto* mean_gradient = reinterpret_cast<float*>(norm.workspace + norm_partials_bytes(norm));
  float* slope = mean_gradient + channels;
  with_norm_types(norm, [&]<int kWidth, class X, class Y>() {
    NormGradientArgs<X, Y> args{.x = norm.x.template as<X>(),
                                .positive = norm_positive(norm, kWidth),
                                .y = norm.residual == nullptr ? nullptr : norm.y.template as<Y>(),
                                .dy = norm.dy.template as<Y>(),
                                .weight = norm.weight,
                                .bias = norm.bias,
                                .mean = norm.mean,
                                .inverse_deviation = norm.inverse_deviation,
                                .mean_gradient = mean_gradient,
                                .slope = slope,
                                .dx = norm.dx.template as<X>(),
                                .dresidual = norm.dresidual.template as<Y>(),
                                .partials = partials,
                                .largest = norm.dx_largest,
                                .relu = norm.relu,
                                .plan = norm_sums_plan(norm, kWidth)};
    launcher.template launch<NormGradientSumsKernel<kWidth, X, Y>>(args.plan.grid(), args, stream);
    launcher.template launch<NormGradientStatisticsKernel>(
        total_grid(args.plan),
        {partials, args.plan.chunks, args.plan.rows, channels, norm.inverse_deviation,
         mean_gradient, slope, norm.dweight, norm.dbias, norm.dx_largest},
        stream);
    if (norm.dx == nullptr && norm.dresidual == nullptr) return;
    args.plan = normalise_plan(norm, kWidth);
    launcher.template launch<NormGradientKernel<kWidth, X, Y>>(args.plan.grid(), args, stream);
  });
}

}  // namespace lab::cuda
