#pragma once
// Batches, activations, pooling, flatten and the update of the weights: one thread per element.
//
// Work     each array is read and written once, at the memory's rate
// Limits   at most 2^31 - 1 elements per array
// Numerics FP32 in the order of the CPU's operations; the sigmoid within a few ulp
#include <cmath>
#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/layers/columns.cuh"
#include "compute/gpu/cuda/layers/divisor.cuh"
#include "compute/gpu/cuda/layers/launch_grid.h"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

inline constexpr int kElementThreads = 256;

// The element of the calling thread.
LAB_DEVICE std::int64_t element_index() {
  return std::int64_t{kElementThreads} * simt::block_idx().x + simt::thread_idx().x;
}
inline LaunchGrid element_grid(std::int64_t count) {
  return {.x = tiles_of(count, kElementThreads)};
}

// ---- Batches

// grid.y: images
struct GatherKernel {
  struct Args {
    const std::uint8_t* pixels;
    const std::uint8_t* labels;
    const std::uint32_t* order;
    std::int64_t first;  // entry of the batch's first image in `order`
    int image_size, width;
    float* to_pixels;
    std::uint8_t* to_labels;
    int first_image;  // of the grid
  };
  static constexpr const char* kName = "gather";
  static constexpr int kThreads = kElementThreads;

  static LAB_DEVICE void run(const Args& args) {
    const int image = args.first_image + simt::block_idx().y;
    const std::uint32_t entry = simt::global(args.order)[args.first + image];
    const std::int64_t from = entry & ~kFlippedImage;
    const std::int64_t i = element_index();
    if (i == 0) {
      const std::uint8_t label = simt::global(args.labels)[from];
      simt::global(args.to_labels)[image] = label;
    }
    if (i >= args.image_size) return;
    std::int64_t source = i;
    if ((entry & kFlippedImage) != 0) {
      const int x = static_cast<int>(i) % args.width;
      source = i + (args.width - 1 - 2 * x);
    }
    const std::uint8_t pixel = simt::global(args.pixels)[from * args.image_size + source];
    simt::global(args.to_pixels)[std::int64_t{image} * args.image_size + i] =
        static_cast<float>(pixel) / 255.0F;
  }
};

// ---- Activations

template <GpuActivation kKind>
LAB_DEVICE float activated(float x) {
  if constexpr (kKind == GpuActivation::Relu) {
    return x < 0 ? 0.0F : x;
  } else {
    return 1.0F / (1.0F + std::exp(-x));
  }
}

// The gradient at the input, from the output `y` and its gradient.
template <GpuActivation kKind>
LAB_DEVICE float activation_gradient(float y, float dy) {
  if constexpr (kKind == GpuActivation::Relu) {
    return y <= 0 ? 0.0F : dy;
  } else {
    return dy * (y * (1.0F - y));
  }
}

struct ActivateArgs {
  float* x;
  float* dx;
  std::int64_t count;
};

template <GpuActivation kKind>
struct ActivateKernel {
  using Args = ActivateArgs;
  static constexpr const char* kName = "activation";
  static constexpr int kThreads = kElementThreads;

  static LAB_DEVICE void run(const Args& args) {
    const std::int64_t i = element_index();
    if (i >= args.count) return;
    const auto x = simt::global(args.x);
    const float value = x[i];
    x[i] = activated<kKind>(value);
  }
};

template <GpuActivation kKind>
struct ActivateBackwardKernel {
  using Args = ActivateArgs;
  static constexpr const char* kName = "activation backward";
  static constexpr int kThreads = kElementThreads;

  static LAB_DEVICE void run(const Args& args) {
    const std::int64_t i = element_index();
    if (i >= args.count) return;
    const float y = simt::global(args.x)[i];
    const auto dx = simt::global(args.dx);
    const float dy = dx[i];
    dx[i] = activation_gradient<kKind>(y, dy);
  }
};

// ---- Average pooling

// Element: of x and dx.
template <class Element>
struct PoolArgs {
  Element* x;  // only read in the backward pass
  float* y;
  const float* dy;
  Element* dx;
  std::int64_t count;                                   // of the threads' elements
  Divisor by_height, by_width, by_channels, by_stride;  // of the array that has these elements
  int in_h, in_w, channels;
  int kernel_h, kernel_w, stride;
  int out_h, out_w;
  float share;  // of a pixel in a window
  bool accumulate;
};

// The element of an NHWC array with this index.
struct PixelChannel {
  std::int64_t image;
  int y, x, channel;
};
template <class Args>
LAB_DEVICE PixelChannel pixel_channel(std::int64_t index, const Args& args) {
  const auto [pixel, channel] = divide(static_cast<int>(index), args.by_channels);
  const auto [row, x] = divide(pixel, args.by_width);
  const auto [image, y] = divide(row, args.by_height);
  return {image, y, x, channel};
}

// One thread per element of y. kSigmoid: replaces x by its sigmoid; every pixel is in exactly one
// window.
template <bool kSigmoid, class Element>
struct PoolKernel {
  using Args = PoolArgs<Element>;
  static constexpr const char* kName = "average pooling";
  static constexpr int kThreads = kElementThreads;

  static LAB_DEVICE void run(const Args& args) {
    const std::int64_t i = element_index();
    if (i >= args.count) return;
    const auto at = pixel_channel(i, args);
    const std::int64_t corner =
        ((at.image * args.in_h + at.y * args.stride) * args.in_w + at.x * args.stride) *
            args.channels +
        at.channel;
    const auto x = simt::global(args.x) + corner;
    float sum = 0;
    for (int ky = 0; ky < args.kernel_h; ++ky) {
      for (int kx = 0; kx < args.kernel_w; ++kx) {
        const int place = (ky * args.in_w + kx) * args.channels;
        float value = element_at(x, place);
        if constexpr (kSigmoid) {
          value = activated<GpuActivation::Sigmoid>(value);
          set_element(x, place, value);
        }
        sum += value;
      }
    }
    simt::global(args.y)[i] = sum * args.share;
  }
};

// One thread per element of dx, which adds the shares of the windows around it, in their order.
template <bool kSigmoid, class Element>
struct PoolBackwardKernel {
  using Args = PoolArgs<Element>;
  static constexpr const char* kName = "average pooling backward";
  static constexpr int kThreads = kElementThreads;

  static LAB_DEVICE void run(const Args& args) {
    const std::int64_t i = element_index();
    if (i >= args.count) return;
    const auto at = pixel_channel(i, args);
    const auto dx = simt::global(args.dx);
    const auto dy = simt::global(args.dy);
    const Covering rows = covering(at.y, args.kernel_h, args.by_stride, args.out_h);
    const Covering cols = covering(at.x, args.kernel_w, args.by_stride, args.out_w);
    float sum = 0;
    if (args.accumulate) sum = element_at(dx, i);
    for (int oy = rows.begin; oy < rows.end; ++oy) {
      for (int ox = cols.begin; ox < cols.end; ++ox) {
        const float gradient =
            dy[((at.image * args.out_h + oy) * args.out_w + ox) * args.channels + at.channel];
        sum = simt::fma(gradient, args.share, sum);
      }
    }
    if constexpr (kSigmoid) {
      const float y = element_at(simt::global(args.x), i);
      sum = activation_gradient<GpuActivation::Sigmoid>(y, sum);
    }
    set_element(dx, i, sum);
  }

 private:
  // The windows along one axis that contain pixel `at`.
  struct Covering {
    int begin, end;
  };
  static LAB_DEVICE Covering covering(int at, int kernel, const Divisor& stride, int count) {
    const int first = at < kernel ? 0 : divide(at - kernel, stride).quotient + 1;
    const int end = divide(at, stride).quotient + 1;
    return {first, end < count ? end : count};
  }
};

// ---- Flatten

// One thread per element of [images, channels, pixels].
struct FlattenKernel {
  struct Args {
    const float* from;
    float* to;
    std::int64_t count;
    int pixels, channels;
    bool backward, accumulate;
  };
  static constexpr const char* kName = "flatten";
  static constexpr int kThreads = kElementThreads;

  static LAB_DEVICE void run(const Args& args) {
    const std::int64_t i = element_index();
    if (i >= args.count) return;
    const auto row = static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(args.pixels);
    const std::uint32_t pixel = static_cast<std::uint32_t>(i) - row * args.pixels;
    const std::uint32_t image = row / static_cast<std::uint32_t>(args.channels);
    const std::uint32_t channel = row - image * args.channels;
    const std::int64_t nhwc = (std::int64_t{image} * args.pixels + pixel) * args.channels + channel;
    const auto from = simt::global(args.from);
    const auto to = simt::global(args.to);
    if (!args.backward) {
      to[i] = from[nhwc];
      return;
    }
    float value = from[i];
    if (args.accumulate) value += to[nhwc];
    to[nhwc] = value;
  }
};

// ---- Update

// kWidth neighbouring weights per thread.
template <int kWidth>
struct SgdKernel {
  struct Args {
    float* weights;
    const float* gradients;
    float* velocity;
    std::uint16_t* bf16_weights;
    const float* lr;
    const float* fault;
    std::int64_t count;
    float momentum, weight_decay;
  };
  static constexpr const char* kName = "sgd";
  static constexpr int kThreads = kElementThreads;

  static LAB_DEVICE void run(const Args& args) {
    const std::int64_t i = element_index() * kWidth;
    if (i >= args.count) return;
    if (args.fault != nullptr) {
      const float fault = simt::global(args.fault)[0];
      if (fault != fault) return;
    }
    const float lr = simt::global(args.lr)[0];
    const auto weights = simt::global(args.weights) + i;
    float weight[kWidth], step[kWidth], velocity[kWidth] = {};
    read_own(weight, weights);
    read_columns(step, simt::global(args.gradients) + i);
    if (args.velocity != nullptr) read_own(velocity, simt::global(args.velocity) + i);
    LAB_UNROLL
    for (int e = 0; e < kWidth; ++e) {
      step[e] = simt::fma(args.weight_decay, weight[e], step[e]);
      if (args.velocity != nullptr) {
        velocity[e] = simt::fma(args.momentum, velocity[e], step[e]);
        step[e] = velocity[e];
      }
      weight[e] = simt::fma(-lr, step[e], weight[e]);
    }
    write_columns(weights, weight);
    if (args.velocity != nullptr) write_columns(simt::global(args.velocity) + i, velocity);
    if (args.bf16_weights == nullptr) return;
    const auto rounded = simt::global(args.bf16_weights) + i;
    if constexpr (kWidth == 4) {
      simt::store(rounded, simt::Uint2{simt::pack_bf16(weight[0], weight[1]),
                                       simt::pack_bf16(weight[2], weight[3])});
    } else {
      set_element(rounded, 0, weight[0]);
    }
  }

 private:
  // Elements that this thread writes later.
  static LAB_DEVICE void read_own(float (&to)[kWidth], simt::GlobalPtr<const float> from) {
    if constexpr (kWidth == 4) {
      const auto four = simt::load<simt::Float4>(from);
      to[0] = four.x;
      to[1] = four.y;
      to[2] = four.z;
      to[3] = four.w;
    } else {
      const float element = from[0];
      to[0] = element;
    }
  }
};

}  // namespace lab::cuda
