#pragma once
// GpuLayers with wgmma for the convolutions that it takes, on compute capability 9.0.
#include <algorithm>
#include <cstdint>

#include "compute/gpu/cuda/layers/convolution/wgmma_convolution.cuh"
#include "compute/gpu/cuda/layers/layers.cuh"

namespace lab::cuda {

template <class Launcher>
class WgmmaLayers final : public Layers<Launcher> {
 public:
  using Portable = Layers<Launcher>;
  using Portable::kept_bytes;
  using Portable::Portable;
  using Portable::workspace_bytes;

  bool takes_bf16(const GpuConvolution& c) const override {
    check_sizes(c);
    return c.precision == Precision::BF16 && fits_boxes(c);
  }
  std::int64_t workspace_bytes(const GpuConvolution& c) const override {
    const std::int64_t bytes = Portable::workspace_bytes(c);  // checks the sizes
    if (!is_wgmma_shape(c)) return bytes;
    // Arrays that are not aligned take the portable kernels.
    return std::max(bytes, wgmma_workspace_bytes(c, this->launcher().multiprocessors()));
  }
  std::int64_t kept_bytes(const GpuConvolution& c) const override {
    check_sizes(c);
    return is_wgmma_shape(c) ? wgmma_kept_bytes(c) : 0;
  }
  void convolution_forward(const GpuConvolution& c, GpuStream& stream) override {
    if (!takes_wgmma(c)) return Portable::convolution_forward(c, stream);
    check_sizes(c);
    wgmma_forward(this->launcher(), c, stream);
  }
  void convolution_input_gradient(const GpuConvolution& c, GpuStream& stream) override {
    if (!takes_wgmma(c)) return Portable::convolution_input_gradient(c, stream);
    check_sizes(c);
    wgmma_input_gradient(this->launcher(), c, stream);
  }
  void convolution_weight_gradient(const GpuConvolution& c, GpuStream& stream) override {
    if (!takes_wgmma(c)) return Portable::convolution_weight_gradient(c, stream);
    check_sizes(c);
    wgmma_weight_gradient(this->launcher(), c, stream);
  }
  void convolution_bias_gradient(const GpuConvolution& c, GpuStream& stream) override {
    if (!takes_wgmma(c)) return Portable::convolution_bias_gradient(c, stream);
    check_sizes(c);
    cuda::convolution_bias_gradient(
        this->launcher(), c,
        c.workspace + wgmma_bias_partials(c, this->launcher().multiprocessors()), stream);
  }
  // An FP32 dy is rounded once for both.
  bool gradients_are_independent(const GpuConvolution& c) const override {
    return !is_wgmma_shape(c) || c.y.is_bf16();
  }
};

}  // namespace lab::cuda
