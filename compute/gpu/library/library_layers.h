#pragma once
// GpuLayers by NVIDIA's libraries: convolutions, batch norm, activations and average pooling by
// cuDNN, linear layers by cuBLAS. Batches, flatten, loss and update remain with the lab's kernels,
// as do a batch norm of one row, and one whose input needs no gradient.
//
// Numerics F32: FP32 FMA. TF32: tensor cores where cuDNN's heuristics and cuBLAS choose them. Both
//          accumulate in FP32
// Order    Only algorithms that cuDNN declares deterministic are used. Batch norm, pooling,
//          activations, bias gradients and cuBLAS with a workspace of its own are documented as
//          reproducible on equal GPUs with equal library versions
// Record   An operation must have run once before it is recorded: its first run chooses algorithms
//          and creates descriptors
// Errors   as in gpu_layers.h; Error(Unsupported) for BF16, and where cuDNN has no algorithm;
//          Error(Cuda) naming the library's function, the sizes and the library's words
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compute/gpu/gpu_layers.h"
#include "compute/gpu/library/convolution_plans.h"
#include "compute/gpu/library/library_calls.h"

namespace lab::library {

// Thread-safe.
class LibraryLayers final : public GpuLayers {
 public:
  // `own`, the layers by the lab's kernels on the same GPU, must outlive the object. Workspaces of
  // convolutions are at most `workspace_limit_bytes`. Creates the libraries' handles.
  LibraryLayers(const LayerLibraries& libraries, std::unique_ptr<LibraryHost> host, GpuLayers& own,
                std::int64_t workspace_limit_bytes);

  std::string libraries() const override { return calls_.versions(); }
  std::optional<std::string> unsupported(Precision precision) const override;

  std::int64_t workspace_bytes(const GpuConvolution& convolution) const override;
  std::int64_t workspace_bytes(const GpuBatchNorm& norm) const override;
  std::int64_t workspace_bytes(const GpuImageOrder& order) const override {
    return own_.workspace_bytes(order);
  }

  void convolution_forward(const GpuConvolution& convolution, GpuStream& stream) override;
  void convolution_input_gradient(const GpuConvolution& convolution, GpuStream& stream) override;
  void convolution_weight_gradient(const GpuConvolution& convolution, GpuStream& stream) override;
  void convolution_bias_gradient(const GpuConvolution& convolution, GpuStream& stream) override;

  void batch_norm_forward(const GpuBatchNorm& norm, GpuStream& stream) override;
  void batch_norm_backward(const GpuBatchNorm& norm, GpuStream& stream) override;

  void activation_forward(const GpuActivate& activation, GpuStream& stream) override;
  void activation_backward(const GpuActivate& activation, GpuStream& stream) override;
  void average_pool_forward(const GpuAveragePool& pool, GpuStream& stream) override;
  void average_pool_backward(const GpuAveragePool& pool, GpuStream& stream) override;

  void draw_order(const GpuImageOrder& order, GpuStream& stream) override {
    own_.draw_order(order, stream);
  }
  void gather(const GpuGather& gather, GpuStream& stream) override { own_.gather(gather, stream); }
  void flatten(const GpuFlatten& flatten, GpuStream& stream) override {
    own_.flatten(flatten, stream);
  }
  void loss(const GpuLoss& loss, GpuStream& stream) override { own_.loss(loss, stream); }
  void sgd(const GpuSgd& sgd, GpuStream& stream) override { own_.sgd(sgd, stream); }
  void round_to_bf16(const GpuRounding& rounding, GpuStream& stream) override {
    own_.round_to_bf16(rounding, stream);
  }

 private:
  // A matrix product in cuBLAS's column-major terms; rows of every operand follow one another.
  struct Product {
    CublasOperation a_op, b_op;
    std::int64_t m, n, k;
    const float *a, *b;
    std::int64_t lda, ldb;
    float* c;  // [m, n]
    float beta;
  };

  void require(const GpuConvolution& c) const;
  // The types of an operation's arrays.
  void require_f32(std::initializer_list<DType> arrays) const;
  void multiply(const Product& product, const GpuConvolution& c);
  // Adds `factor` times a vector of the channels to each row of `to`.
  void add_channels(const float* values, float factor, const CudnnTensor* rows, float* to,
                    std::int64_t channels);
  void activate(CudnnActivationMode mode, const CudnnTensor* shape, float* x);
  void activate_backward(CudnnActivationMode mode, const CudnnTensor* shape, const float* y,
                         const float* dy, float* dx);

  mutable std::mutex mutex_;  // a handle's stream serves one call at a time
  GpuLayers& own_;
  mutable LibraryCalls calls_;
  mutable ConvolutionPlans plans_;
};

}  // namespace lab::library
