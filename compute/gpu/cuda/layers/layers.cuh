#pragma once
// GpuLayers for any launcher (launch_grid.h): checks the sizes, chooses kernels, grids and scratch
// memory, and launches. CUDA and the emulator run the same code.
#include <cstdint>
#include <optional>
#include <utility>

#include "compute/gpu/cuda/layers/batch_norm.cuh"
#include "compute/gpu/cuda/layers/convolution/convolution.cuh"
#include "compute/gpu/cuda/layers/convolution/rounding.cuh"
#include "compute/gpu/cuda/layers/elementwise.cuh"
#include "compute/gpu/cuda/layers/image_order.cuh"
#include "compute/gpu/cuda/layers/launch_grid.h"
#include "compute/gpu/cuda/layers/loss.cuh"
#include "compute/gpu/gpu_layer_sizes.h"
#include "compute/gpu/gpu_layers.h"

namespace lab::cuda {

template <class Launcher>
class Layers : public GpuLayers {
 public:
  // `tiles`: of all convolutions, for tests; by default they follow from the shape.
  explicit Layers(Launcher launcher, std::optional<TileSize> tiles = {})
      : launcher_(std::move(launcher)), tiles_(tiles) {}

  std::int64_t workspace_bytes(const GpuConvolution& convolution) const override {
    check_sizes(convolution);
    return convolution_workspace_bytes(convolution);
  }
  std::int64_t workspace_bytes(const GpuBatchNorm& norm) const override {
    check_sizes(norm);
    return norm_workspace_bytes(norm);
  }
  std::int64_t workspace_bytes(const GpuImageOrder& order) const override {
    check_sizes(order);
    return order_workspace_bytes(order);
  }
  using GpuLayers::kept_bytes;
  std::int64_t kept_bytes(const GpuBatchNorm& norm) const override {
    check_sizes(norm);
    return norm_kept_bytes(norm);
  }

  void draw_order(const GpuImageOrder& order, GpuStream& stream) override {
    check_sizes(order);
    cuda::draw_order(launcher_, order, stream);
  }
  void gather(const GpuGather& gather, GpuStream& stream) override;

  void convolution_forward(const GpuConvolution& convolution, GpuStream& stream) override {
    check_f32(convolution);
    cuda::convolution_forward(launcher_, convolution, stream, tiles_);
  }
  void convolution_input_gradient(const GpuConvolution& convolution, GpuStream& stream) override {
    check_f32(convolution);
    cuda::convolution_input_gradient(launcher_, convolution, stream, tiles_);
  }
  void convolution_weight_gradient(const GpuConvolution& convolution, GpuStream& stream) override {
    check_f32(convolution);
    cuda::convolution_weight_gradient(launcher_, convolution, stream, tiles_);
  }

  void convolution_bias_gradient(const GpuConvolution& convolution, GpuStream& stream) override {
    check_f32(convolution);
    cuda::convolution_bias_gradient(
        launcher_, convolution, convolution.workspace + weight_partials_bytes(convolution), stream);
  }
  bool gradients_are_independent(const GpuConvolution& /*convolution*/) const override {
    return true;
  }

  void batch_norm_forward(const GpuBatchNorm& norm, GpuStream& stream) override {
    check_sizes(norm);
    cuda::batch_norm_forward(launcher_, norm, stream);
  }
  void batch_norm_backward(const GpuBatchNorm& norm, GpuStream& stream) override {
    check_sizes(norm);
    cuda::batch_norm_backward(launcher_, norm, stream);
  }

  void activation_forward(const GpuActivate& activation, GpuStream& stream) override {
    activate<ActivateKernel>(activation, stream);
  }
  void activation_backward(const GpuActivate& activation, GpuStream& stream) override {
    activate<ActivateBackwardKernel>(activation, stream);
  }
  void average_pool_forward(const GpuAveragePool& pool, GpuStream& stream) override;
  void average_pool_backward(const GpuAveragePool& pool, GpuStream& stream) override;
  void flatten(const GpuFlatten& flatten, GpuStream& stream) override;

  void loss(const GpuLoss& loss, GpuStream& stream) override;
  void sgd(const GpuSgd& sgd, GpuStream& stream) override;
  void round_to_bf16(const GpuRounding& rounding, GpuStream& stream) override {
    check_sizes(rounding);
    cuda::round_to_bf16(launcher_, rounding.from, rounding.to, rounding.count, stream);
  }

 protected:
  Launcher& launcher() { return launcher_; }
  const Launcher& launcher() const { return launcher_; }

 private:
  template <template <GpuActivation> class Kernel>
  void activate(const GpuActivate& activation, GpuStream& stream);

  Launcher launcher_;
  const std::optional<TileSize> tiles_;
};

template <class Launcher>
void Layers<Launcher>::gather(const GpuGather& gather, GpuStream& stream) {
  check_sizes(gather);
  constexpr int kImages = 32768;  // per launch, within the limit of a grid's y
  for (std::int64_t first = 0; first < gather.images; first += kImages) {
    const std::int64_t left = gather.images - first;
    LaunchGrid grid = element_grid(gather.image_size);
    grid.y = left < kImages ? static_cast<int>(left) : kImages;
    launcher_.template launch<GatherKernel>(
        grid,
        {gather.pixels, gather.labels, gather.order, gather.first,
         static_cast<int>(gather.image_size), static_cast<int>(gather.width), gather.to_pixels,
         gather.to_labels, static_cast<int>(first)},
        stream);
  }
}

template <class Launcher>
template <template <GpuActivation> class Kernel>
void Layers<Launcher>::activate(const GpuActivate& activation, GpuStream& stream) {
  check_sizes(activation);
  const ActivateArgs args{activation.x, activation.dx, activation.count};
  const LaunchGrid grid = element_grid(activation.count);
  if (activation.kind == GpuActivation::Relu) {
    launcher_.template launch<Kernel<GpuActivation::Relu>>(grid, args, stream);
  } else {
    launcher_.template launch<Kernel<GpuActivation::Sigmoid>>(grid, args, stream);
  }
}

// With a thread for each element of an array of this height and width: that of x or of y.
template <class Element>
PoolArgs<Element> pool_args(const GpuAveragePool& pool, std::int64_t height, std::int64_t width) {
  return {.x = pool.x.template as<Element>(),
          .y = pool.y,
          .dy = pool.dy,
          .dx = pool.dx.template as<Element>(),
          .count = pool.images * height * width * pool.channels,
          .by_height = Divisor::of(height),
          .by_width = Divisor::of(width),
          .by_channels = Divisor::of(pool.channels),
          .by_stride = Divisor::of(pool.stride),
          .in_h = static_cast<int>(pool.in_h),
          .in_w = static_cast<int>(pool.in_w),
          .channels = static_cast<int>(pool.channels),
          .kernel_h = static_cast<int>(pool.kernel_h),
          .kernel_w = static_cast<int>(pool.kernel_w),
          .stride = static_cast<int>(pool.stride),
          .out_h = static_cast<int>(pool.out_h()),
          .out_w = static_cast<int>(pool.out_w()),
          .share = 1.0F / static_cast<float>(pool.kernel_h * pool.kernel_w),
          .accumulate = pool.accumulate};
}

template <class Launcher>
void Layers<Launcher>::average_pool_forward(const GpuAveragePool& pool, GpuStream& stream) {
  check_sizes(pool);
  const bool tiles_the_image = pool.kernel_h == pool.stride && pool.kernel_w == pool.stride &&
                               pool.in_h % pool.stride == 0 && pool.in_w % pool.stride == 0;
  const bool fused = pool.sigmoid && tiles_the_image;
  if (pool.sigmoid && !fused) {
    activation_forward({.kind = GpuActivation::Sigmoid,
                        .count = pool.images * pool.in_h * pool.in_w * pool.channels,
                        .x = pool.x.f32()},
                       stream);
  }
  const auto launch = [&]<bool kSigmoid, class Element>() {
    const auto args = pool_args<Element>(pool, pool.out_h(), pool.out_w());
    launcher_.template launch<PoolKernel<kSigmoid, Element>>(element_grid(args.count), args,
                                                             stream);
  };
  if (pool.x.is_bf16()) {
    launch.template operator()<false, std::uint16_t>();
  } else if (fused) {
    launch.template operator()<true, float>();
  } else {
    launch.template operator()<false, float>();
  }
}

template <class Launcher>
void Layers<Launcher>::average_pool_backward(const GpuAveragePool& pool, GpuStream& stream) {
  check_sizes(pool);
  const auto launch = [&]<bool kSigmoid, class Element>() {
    const auto args = pool_args<Element>(pool, pool.in_h, pool.in_w);
    launcher_.template launch<PoolBackwardKernel<kSigmoid, Element>>(element_grid(args.count), args,
                                                                     stream);
  };
  if (pool.dx.is_bf16()) {
    launch.template operator()<false, std::uint16_t>();
  } else if (pool.sigmoid) {
    launch.template operator()<true, float>();
  } else {
    launch.template operator()<false, float>();
  }
}

template <class Launcher>
void Layers<Launcher>::flatten(const GpuFlatten& flatten, GpuStream& stream) {
  check_sizes(flatten);
  const std::int64_t count = flatten.images * flatten.pixels * flatten.channels;
  launcher_.template launch<FlattenKernel>(
      element_grid(count),
      {flatten.from, flatten.to, count, static_cast<int>(flatten.pixels),
       static_cast<int>(flatten.channels), flatten.backward, flatten.accumulate},
      stream);
}

template <class Launcher>
void Layers<Launcher>::loss(const GpuLoss& loss, GpuStream& stream) {
  check_sizes(loss);
  const int images = static_cast<int>(loss.images);
  launcher_.template launch<LossKernel>(
      {.x = tiles_of(images, LossKernel::kImages)},
      {loss.logits, loss.labels, loss.dlogits, loss.losses, loss.predicted, loss.confidence, images,
       static_cast<int>(loss.classes), loss.smoothing, loss.divisor},
      stream);
  launcher_.template launch<LossSumKernel>(
      {}, {loss.losses, loss.predicted, loss.labels, loss.sum, loss.fault, images}, stream);
}

template <class Launcher>
void Layers<Launcher>::sgd(const GpuSgd& sgd, GpuStream& stream) {
  check_sizes(sgd);
  const bool wide = sgd.count % 4 == 0 &&
                    all_aligned({sgd.weights, sgd.gradients, sgd.velocity, sgd.bf16_weights});
  const auto launch = [&]<int kWidth>() {
    launcher_.template launch<SgdKernel<kWidth>>(
        element_grid(sgd.count / kWidth),
        {sgd.weights, sgd.gradients, sgd.velocity, sgd.bf16_weights, sgd.lr, sgd.fault, sgd.count,
         sgd.momentum, sgd.weight_decay},
        stream);
  };
  wide ? launch.template operator()<4>() : launch.template operator()<1>();
}

}  // namespace lab::cuda
