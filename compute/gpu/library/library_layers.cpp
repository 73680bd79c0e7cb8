#include "compute/gpu/library/library_layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/gpu/gpu_layer_sizes.h"
#include "compute/gpu/library/library_environment.h"

namespace lab::library {
namespace {

constexpr std::int64_t kAlignment_bytes = 256;
// Source  cuBLAS documentation, cublasSetWorkspace: the size recommended for Hopper, the largest.
constexpr std::int64_t kBlasWorkspace_bytes = std::int64_t{32} << 20;

struct Workspace {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

// The part of the memory that begins at a multiple of kAlignment_bytes.
Workspace aligned(std::byte* memory, std::int64_t bytes) {
  if (memory == nullptr) return {};
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const auto skip = static_cast<std::int64_t>(-address % kAlignment_bytes);
  return skip < bytes ? Workspace{memory + skip, bytes - skip} : Workspace{};
}

Workspace workspace_of(const GpuConvolution& c) {
  return aligned(c.workspace, c.workspace_bytes);
}

bool is_linear(const GpuConvolution& c) {
  return c.in_h == 1 && c.in_w == 1 && c.kernel == 1 && c.padding == 0;
}

const CudnnTensor* input_of(LibraryCalls& calls, const GpuConvolution& c) {
  return calls.tensor(c.images, c.in_c, c.in_h, c.in_w);
}

const CudnnTensor* output_of(LibraryCalls& calls, const GpuConvolution& c) {
  return calls.tensor(c.images, c.out_c, c.out_h, c.out_w);
}

// Batch norm knows rows only; cuDNN limits the number of images more than that of their pixels.
const CudnnTensor* rows_of(LibraryCalls& calls, const GpuBatchNorm& norm) {
  const std::int64_t images = norm.rows % norm.images == 0 ? norm.images : 1;
  return calls.tensor(images, norm.channels, norm.rows / images);
}

std::string describe(const GpuBatchNorm& norm) {
  return fmt::format("[{},{}]", norm.rows, norm.channels);
}

std::string describe(const GpuAveragePool& pool) {
  return trf("pooling of [{},{},{},{}] by {}x{}, stride {}", pool.images, pool.in_h, pool.in_w,
             pool.channels, pool.kernel_h, pool.kernel_w, pool.stride);
}

CudnnActivationMode mode_of(GpuActivation kind) {
  return kind == GpuActivation::Relu ? CudnnActivationMode::Relu : CudnnActivationMode::Sigmoid;
}

// The gradient of y before the relu needs memory of its own.
bool needs_gradient_memory(const GpuBatchNorm& norm) {
  return norm.relu && norm.dresidual == nullptr;
}

std::int64_t gradient_bytes(const GpuBatchNorm& norm) {
  return norm.rows * norm.channels * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

LibraryLayers::LibraryLayers(const LayerLibraries& libraries, std::unique_ptr<LibraryHost> host,
                             GpuLayers& own, std::int64_t workspace_limit_bytes)
    : own_(own), calls_(libraries, std::move(host)), plans_(calls_, workspace_limit_bytes) {}

std::optional<std::string> LibraryLayers::unsupported(Precision precision) const {
  if (precision == Precision::BF16) {
    return trf(
        "with {}, the lab computes in f32 and tf32; choose --dtype tf32, or --kernels lab for "
        "bf16",
        calls_.versions());
  }
  return overridden(precision);
}

void LibraryLayers::require_f32(std::initializer_list<DType> arrays) const {
  if (std::ranges::find(arrays, DType::BF16) != arrays.end()) {
    throw Error(Errc::Unsupported, *unsupported(Precision::BF16));
  }
}

// ---- Convolutions

void LibraryLayers::require(const GpuConvolution& c) const {
  check_f32(c);
  if (const auto why = unsupported(c.precision)) throw Error(Errc::Unsupported, *why);
}

std::int64_t LibraryLayers::workspace_bytes(const GpuConvolution& c) const {
  require(c);
  if (is_linear(c)) return kBlasWorkspace_bytes + kAlignment_bytes;
  const std::lock_guard lock(mutex_);
  calls_.begin(nullptr);
  return plans_.workspace_bytes(c) + kAlignment_bytes;
}

void LibraryLayers::multiply(const Product& p, const GpuConvolution& c) {
  const auto workspace = workspace_of(c);
  if (workspace.bytes > 0) calls_.set_blas_workspace(workspace.data, workspace.bytes);
  const auto narrow = [](std::int64_t size) { return static_cast<int>(size); };
  const CublasCompute compute =
      c.precision == Precision::TF32 ? CublasCompute::FastTf32 : CublasCompute::Float;
  calls_.check(calls_.blas.gemm(calls_.blas_handle(), p.a_op, p.b_op, narrow(p.m), narrow(p.n),
                                narrow(p.k), &kOne, p.a, CublasData::Float, narrow(p.lda), p.b,
                                CublasData::Float, narrow(p.ldb), &p.beta, p.c, CublasData::Float,
                                narrow(p.m), compute, CublasAlgorithm::Default),
               "cublasGemmEx", [&] {
                 return fmt::format("[{},{},{}], lda {}, ldb {}", p.m, p.n, p.k, p.lda, p.ldb);
               });
}

void LibraryLayers::add_channels(const float* values, float factor, const CudnnTensor* rows,
                                 float* to, std::int64_t channels) {
  calls_.check(calls_.dnn.add_tensor(calls_.dnn_handle(), &factor, calls_.tensor(1, channels),
                                     values, &kOne, rows, to),
               "cudnnAddTensor", [&] { return trf("{} channels", channels); });
}

void LibraryLayers::convolution_forward(const GpuConvolution& c, GpuStream& stream) {
  require(c);
  const std::lock_guard lock(mutex_);
  calls_.begin(&stream);
  const CudnnTensor* const y = output_of(calls_, c);
  if (is_linear(c)) {
    multiply({CublasOperation::Transpose, CublasOperation::None, c.out_c, c.images, c.in_c,
              c.weight, c.x.f32(), c.in_c, c.in_c, c.y.f32(), 0},
             c);
  } else {
    const Workspace workspace = workspace_of(c);
    const PassPlan& plan = plans_.plan(c, ConvolutionPass::Forward, workspace.bytes);
    calls_.check(calls_.dnn.forward(
                     calls_.dnn_handle(), &kOne, input_of(calls_, c), c.x.f32(), plans_.filter(c),
                     c.weight, plan.convolution.get(), plan.algorithm, workspace.data,
                     static_cast<std::size_t>(workspace.bytes), &kZero, y, c.y.f32()),
                 "cudnnConvolutionForward", [&] { return describe(c); });
  }
  if (c.bias != nullptr) add_channels(c.bias, 1, y, c.y.f32(), c.out_c);
}

void LibraryLayers::convolution_input_gradient(const GpuConvolution& c, GpuStream& stream) {
  require(c);
  const std::lock_guard lock(mutex_);
  calls_.begin(&stream);
  const float beta = c.accumulate ? kOne : kZero;
  if (is_linear(c)) {
    multiply({CublasOperation::None, CublasOperation::None, c.in_c, c.images, c.out_c, c.weight,
              c.dy.f32(), c.in_c, c.out_c, c.dx.f32(), beta},
             c);
    return;
  }
  const Workspace workspace = workspace_of(c);
  const PassPlan& plan = plans_.plan(c, ConvolutionPass::InputGradient, workspace.bytes);
  calls_.check(calls_.dnn.backward_data(calls_.dnn_handle(), &kOne, plans_.filter(c), c.weight,
                                        output_of(calls_, c), c.dy.f32(), plan.convolution.get(),
                                        plan.algorithm, workspace.data,
                                        static_cast<std::size_t>(workspace.bytes), &beta,
                                        input_of(calls_, c), c.dx.f32()),
               "cudnnConvolutionBackwardData", [&] { return describe(c); });
}

void LibraryLayers::convolution_weight_gradient(const GpuConvolution& c, GpuStream& stream) {
  require(c);
  const std::lock_guard lock(mutex_);
  calls_.begin(&stream);
  if (is_linear(c)) {
    multiply({CublasOperation::None, CublasOperation::Transpose, c.in_c, c.out_c, c.images,
              c.x.f32(), c.dy.f32(), c.in_c, c.out_c, c.dweight, 0},
             c);
    return;
  }
  const Workspace workspace = workspace_of(c);
  const PassPlan& plan = plans_.plan(c, ConvolutionPass::WeightGradient, workspace.bytes);
  calls_.check(calls_.dnn.backward_filter(
                   calls_.dnn_handle(), &kOne, input_of(calls_, c), c.x.f32(), output_of(calls_, c),
                   c.dy.f32(), plan.convolution.get(), plan.algorithm, workspace.data,
                   static_cast<std::size_t>(workspace.bytes), &kZero, plans_.filter(c), c.dweight),
               "cudnnConvolutionBackwardFilter", [&] { return describe(c); });
}

void LibraryLayers::convolution_bias_gradient(const GpuConvolution& c, GpuStream& stream) {
  require(c);
  const std::lock_guard lock(mutex_);
  calls_.begin(&stream);
  calls_.check(calls_.dnn.backward_bias(calls_.dnn_handle(), &kOne, output_of(calls_, c),
                                        c.dy.f32(), &kZero, calls_.tensor(1, c.out_c), c.dbias),
               "cudnnConvolutionBackwardBias", [&] { return describe(c); });
}

// ---- Batch norm

std::int64_t LibraryLayers::workspace_bytes(const GpuBatchNorm& norm) const {
  return std::max(own_.workspace_bytes(norm), gradient_bytes(norm) + kAlignment_bytes);
}

void LibraryLayers::batch_norm_forward(const GpuBatchNorm& norm, GpuStream& stream) {
  check_sizes(norm);
  require_f32({norm.x.dtype(), norm.y.dtype(), norm.dy.dtype()});
  if (norm.rows == 1) return own_.batch_norm_forward(norm, stream);
  const std::lock_guard lock(mutex_);
  calls_.begin(&stream);
  const auto sizes = [&] { return describe(norm); };
  const CudnnFunctions& f = calls_.dnn;
  CudnnContext* const handle = calls_.dnn_handle();
  const CudnnTensor* const rows = rows_of(calls_, norm);
  const CudnnTensor* const parameters = calls_.tensor(1, norm.channels);
  if (norm.training) {
    calls_.check(
        f.norm_forward(handle, CudnnNormMode::SpatialPersistent, &kOne, &kZero, rows, norm.x.f32(),
                       rows, norm.y.f32(), parameters, norm.weight, norm.bias,
                       double{norm.momentum}, norm.running_mean, norm.running_variance,
                       double{norm.eps}, norm.mean, norm.inverse_deviation),
        "cudnnBatchNormalizationForwardTraining", sizes);
    if (norm.left_bias != nullptr) {
      add_channels(norm.left_bias, norm.momentum, parameters, norm.running_mean, norm.channels);
    }
  } else {
    const float* mean = norm.running_mean;
    if (norm.left_bias != nullptr) {
      calls_.check(
          f.add_tensor(handle, &kOne, parameters, norm.running_mean, &kZero, parameters, norm.mean),
          "cudnnAddTensor", sizes);
      add_channels(norm.left_bias, -1, parameters, norm.mean, norm.channels);
      mean = norm.mean;
    }
    calls_.check(f.norm_inference(handle, CudnnNormMode::Spatial, &kOne, &kZero, rows, norm.x.f32(),
                                  rows, norm.y.f32(), parameters, norm.weight, norm.bias, mean,
                                  norm.running_variance, double{norm.eps}),
                 "cudnnBatchNormalizationForwardInference", sizes);
  }
  if (norm.residual != nullptr) {
    calls_.check(f.add_tensor(handle, &kOne, rows, norm.residual.f32(), &kOne, rows, norm.y.f32()),
                 "cudnnAddTensor", sizes);
  }
  if (norm.relu) activate(CudnnActivationMode::Relu, rows, norm.y.f32());
}

void LibraryLayers::batch_norm_backward(const GpuBatchNorm& norm, GpuStream& stream) {
  check_sizes(norm);
  require_f32({norm.x.dtype(), norm.y.dtype(), norm.dy.dtype()});
  if (norm.rows == 1 || norm.dx == nullptr || !norm.training) {
    return own_.batch_norm_backward(norm, stream);
  }
  const std::lock_guard lock(mutex_);
  calls_.begin(&stream);
  const auto sizes = [&] { return describe(norm); };
  const CudnnFunctions& f = calls_.dnn;
  const CudnnTensor* const rows = rows_of(calls_, norm);
  const float* gradient = norm.dy.f32();
  if (norm.relu) {
    float* const into = needs_gradient_memory(norm) ? reinterpret_cast<float*>(norm.workspace)
                                                    : norm.dresidual.f32();
    activate_backward(CudnnActivationMode::Relu, rows, norm.y.f32(), norm.dy.f32(), into);
    gradient = into;
  } else if (norm.dresidual != nullptr) {
    calls_.check(f.add_tensor(calls_.dnn_handle(), &kOne, rows, norm.dy.f32(), &kZero, rows,
                              norm.dresidual.f32()),
                 "cudnnAddTensor", sizes);
  }
  calls_.check(
      f.norm_backward(calls_.dnn_handle(), CudnnNormMode::SpatialPersistent, &kOne, &kZero, &kOne,
                      &kZero, rows, norm.x.f32(), rows, gradient, rows, norm.dx.f32(),
                      calls_.tensor(1, norm.channels), norm.weight, norm.dweight, norm.dbias,
                      double{norm.eps}, norm.mean, norm.inverse_deviation),
      "cudnnBatchNormalizationBackward", sizes);
}

// ---- Activations and pooling

void LibraryLayers::activate(CudnnActivationMode mode, const CudnnTensor* shape, float* x) {
  calls_.check(calls_.dnn.activation_forward(calls_.dnn_handle(), calls_.activation(mode), &kOne,
                                             shape, x, &kZero, shape, x),
               "cudnnActivationForward", [] { return std::string(); });
}

// The derivatives of relu and sigmoid follow from the output, which also serves as the input.
void LibraryLayers::activate_backward(CudnnActivationMode mode, const CudnnTensor* shape,
                                      const float* y, const float* dy, float* dx) {
  calls_.check(calls_.dnn.activation_backward(calls_.dnn_handle(), calls_.activation(mode), &kOne,
                                              shape, y, shape, dy, shape, y, &kZero, shape, dx),
               "cudnnActivationBackward", [] { return std::string(); });
}

void LibraryLayers::activation_forward(const GpuActivate& activation, GpuStream& stream) {
  check_sizes(activation);
  const std::lock_guard lock(mutex_);
  calls_.begin(&stream);
  activate(mode_of(activation.kind), calls_.tensor(1, 1, 1, activation.count), activation.x);
}

void LibraryLayers::activation_backward(const GpuActivate& activation, GpuStream& stream) {
  check_sizes(activation);
  const std::lock_guard lock(mutex_);
  calls_.begin(&stream);
  activate_backward(mode_of(activation.kind), calls_.tensor(1, 1, 1, activation.count),
                    activation.x, activation.dx, activation.dx);
}

void LibraryLayers::average_pool_forward(const GpuAveragePool& pool, GpuStream& stream) {
  check_sizes(pool);
  require_f32({pool.x.dtype(), pool.dx.dtype()});
  const std::lock_guard lock(mutex_);
  calls_.begin(&stream);
  const CudnnTensor* const x = calls_.tensor(pool.images, pool.channels, pool.in_h, pool.in_w);
  if (pool.sigmoid) activate(CudnnActivationMode::Sigmoid, x, pool.x.f32());
  calls_.check(calls_.dnn.pooling_forward(
                   calls_.dnn_handle(), calls_.pooling(pool.kernel_h, pool.kernel_w, pool.stride),
                   &kOne, x, pool.x.f32(), &kZero,
                   calls_.tensor(pool.images, pool.channels, pool.out_h(), pool.out_w()), pool.y),
               "cudnnPoolingForward", [&] { return describe(pool); });
}

// cuDNN requires x and y and reads neither for averages.
void LibraryLayers::average_pool_backward(const GpuAveragePool& pool, GpuStream& stream) {
  check_sizes(pool);
  require_f32({pool.x.dtype(), pool.dx.dtype()});
  const std::lock_guard lock(mutex_);
  calls_.begin(&stream);
  const CudnnTensor* const x = calls_.tensor(pool.images, pool.channels, pool.in_h, pool.in_w);
  const CudnnTensor* const y =
      calls_.tensor(pool.images, pool.channels, pool.out_h(), pool.out_w());
  const float beta = pool.accumulate ? kOne : kZero;
  calls_.check(calls_.dnn.pooling_backward(
                   calls_.dnn_handle(), calls_.pooling(pool.kernel_h, pool.kernel_w, pool.stride),
                   &kOne, y, pool.y, y, pool.dy, x, pool.x.f32(), &beta, x, pool.dx.f32()),
               "cudnnPoolingBackward", [&] { return describe(pool); });
  if (pool.sigmoid)
    activate_backward(CudnnActivationMode::Sigmoid, x, pool.x.f32(), pool.dx.f32(), pool.dx.f32());
}

}  // namespace lab::library
