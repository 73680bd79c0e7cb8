#pragma once
// The part of cuDNN that the lab calls, declared here so that the lab builds without cuDNN's
// headers and opens the library by name. tests/compute/gpu/library compares it with <cudnn.h>.
//
// Source  cuDNN 9.19, <cudnn_graph.h>, <cudnn_ops.h>, <cudnn_cnn.h>
#include <cstddef>

namespace lab::library {

// Opaque types; handles and descriptors are pointers to them.
struct CudnnContext;
struct CudnnTensor;
struct CudnnFilter;
struct CudnnConvolution;
struct CudnnActivation;
struct CudnnPooling;
using CudnnStream = void*;  // a cudaStream_t

// Names are those of cuDNN without their prefix.
enum class CudnnStatus : int { Success = 0 };
enum class CudnnFormat : int { Nhwc = 1 };
enum class CudnnData : int { Float = 0 };
enum class CudnnMath : int { Default = 0, TensorOp = 1, TensorOpAllowConversion = 2, Fma = 3 };
enum class CudnnConvolutionMode : int { CrossCorrelation = 1 };
enum class CudnnDeterminism : int { NonDeterministic = 0, Deterministic = 1 };
enum class CudnnNormMode : int { Spatial = 1, SpatialPersistent = 2 };
enum class CudnnNan : int { Propagate = 1 };
enum class CudnnActivationMode : int { Sigmoid = 0, Relu = 1 };
enum class CudnnPoolingMode : int { AverageCountIncludePadding = 1 };

// An algorithm of one of the three passes of a convolution. Its number has another meaning in each.
struct CudnnAlgorithm {
  int algorithm = 0;
  CudnnStatus status = CudnnStatus::Success;
  float time = 0;
  std::size_t memory = 0;
  CudnnDeterminism determinism = CudnnDeterminism::NonDeterministic;
  CudnnMath math = CudnnMath::Default;
  int reserved[3] = {};
};

// Each member is named after its function: create is cudnnCreate. All take device pointers except
// for the factors alpha and beta.
struct CudnnFunctions {
  std::size_t (*get_version)() = nullptr;
  const char* (*get_error_string)(CudnnStatus) = nullptr;
  CudnnStatus (*create)(CudnnContext**) = nullptr;
  CudnnStatus (*destroy)(CudnnContext*) = nullptr;
  CudnnStatus (*set_stream)(CudnnContext*, CudnnStream) = nullptr;

  // ---- Descriptors
  CudnnStatus (*create_tensor)(CudnnTensor**) = nullptr;
  CudnnStatus (*destroy_tensor)(CudnnTensor*) = nullptr;
  CudnnStatus (*set_tensor)(CudnnTensor*, CudnnFormat, CudnnData, int n, int c, int h,
                            int w) = nullptr;
  CudnnStatus (*create_filter)(CudnnFilter**) = nullptr;
  CudnnStatus (*destroy_filter)(CudnnFilter*) = nullptr;
  CudnnStatus (*set_filter)(CudnnFilter*, CudnnData, CudnnFormat, int k, int c, int h,
                            int w) = nullptr;
  CudnnStatus (*create_convolution)(CudnnConvolution**) = nullptr;
  CudnnStatus (*destroy_convolution)(CudnnConvolution*) = nullptr;
  CudnnStatus (*set_convolution)(CudnnConvolution*, int pad_h, int pad_w, int stride_h,
                                 int stride_w, int dilation_h, int dilation_w, CudnnConvolutionMode,
                                 CudnnData compute) = nullptr;
  CudnnStatus (*set_math)(CudnnConvolution*, CudnnMath) = nullptr;
  CudnnStatus (*create_activation)(CudnnActivation**) = nullptr;
  CudnnStatus (*destroy_activation)(CudnnActivation*) = nullptr;
  CudnnStatus (*set_activation)(CudnnActivation*, CudnnActivationMode, CudnnNan,
                                double coefficient) = nullptr;
  CudnnStatus (*create_pooling)(CudnnPooling**) = nullptr;
  CudnnStatus (*destroy_pooling)(CudnnPooling*) = nullptr;
  CudnnStatus (*set_pooling)(CudnnPooling*, CudnnPoolingMode, CudnnNan, int window_h, int window_w,
                             int pad_h, int pad_w, int stride_h, int stride_w) = nullptr;

  // ---- Algorithms of convolutions, the fastest first, and their workspaces
  CudnnStatus (*forward_algorithms)(CudnnContext*, const CudnnTensor* x, const CudnnFilter* w,
                                    const CudnnConvolution*, const CudnnTensor* y, int asked,
                                    int* found, CudnnAlgorithm*) = nullptr;
  CudnnStatus (*forward_workspace)(CudnnContext*, const CudnnTensor* x, const CudnnFilter* w,
                                   const CudnnConvolution*, const CudnnTensor* y, int algorithm,
                                   std::size_t* bytes) = nullptr;
  CudnnStatus (*data_algorithms)(CudnnContext*, const CudnnFilter* w, const CudnnTensor* dy,
                                 const CudnnConvolution*, const CudnnTensor* dx, int asked,
                                 int* found, CudnnAlgorithm*) = nullptr;
  CudnnStatus (*data_workspace)(CudnnContext*, const CudnnFilter* w, const CudnnTensor* dy,
                                const CudnnConvolution*, const CudnnTensor* dx, int algorithm,
                                std::size_t* bytes) = nullptr;
  CudnnStatus (*filter_algorithms)(CudnnContext*, const CudnnTensor* x, const CudnnTensor* dy,
                                   const CudnnConvolution*, const CudnnFilter* dw, int asked,
                                   int* found, CudnnAlgorithm*) = nullptr;
  CudnnStatus (*filter_workspace)(CudnnContext*, const CudnnTensor* x, const CudnnTensor* dy,
                                  const CudnnConvolution*, const CudnnFilter* dw, int algorithm,
                                  std::size_t* bytes) = nullptr;

  // ---- Convolutions: result = alpha * operation + beta * result
  CudnnStatus (*forward)(CudnnContext*, const void* alpha, const CudnnTensor*, const void* x,
                         const CudnnFilter*, const void* w, const CudnnConvolution*, int algorithm,
                         void* workspace, std::size_t workspace_bytes, const void* beta,
                         const CudnnTensor*, void* y) = nullptr;
  CudnnStatus (*backward_data)(CudnnContext*, const void* alpha, const CudnnFilter*, const void* w,
                               const CudnnTensor*, const void* dy, const CudnnConvolution*,
                               int algorithm, void* workspace, std::size_t workspace_bytes,
                               const void* beta, const CudnnTensor*, void* dx) = nullptr;
  CudnnStatus (*backward_filter)(CudnnContext*, const void* alpha, const CudnnTensor*,
                                 const void* x, const CudnnTensor*, const void* dy,
                                 const CudnnConvolution*, int algorithm, void* workspace,
                                 std::size_t workspace_bytes, const void* beta, const CudnnFilter*,
                                 void* dw) = nullptr;
  CudnnStatus (*backward_bias)(CudnnContext*, const void* alpha, const CudnnTensor*, const void* dy,
                               const void* beta, const CudnnTensor*, void* db) = nullptr;
  // C = alpha * A + beta * C, where A is repeated along its dimensions of size 1.
  CudnnStatus (*add_tensor)(CudnnContext*, const void* alpha, const CudnnTensor*, const void* a,
                            const void* beta, const CudnnTensor*, void* c) = nullptr;

  // ---- Batch norm; tensors without a descriptor of their own have `parameters`
  CudnnStatus (*norm_forward)(CudnnContext*, CudnnNormMode, const void* alpha, const void* beta,
                              const CudnnTensor*, const void* x, const CudnnTensor*, void* y,
                              const CudnnTensor* parameters, const void* scale, const void* bias,
                              double momentum, void* running_mean, void* running_variance,
                              double epsilon, void* mean, void* inverse_deviation) = nullptr;
  CudnnStatus (*norm_inference)(CudnnContext*, CudnnNormMode, const void* alpha, const void* beta,
                                const CudnnTensor*, const void* x, const CudnnTensor*, void* y,
                                const CudnnTensor* parameters, const void* scale, const void* bias,
                                const void* mean, const void* variance, double epsilon) = nullptr;
  CudnnStatus (*norm_backward)(CudnnContext*, CudnnNormMode, const void* alpha_data,
                               const void* beta_data, const void* alpha_parameters,
                               const void* beta_parameters, const CudnnTensor*, const void* x,
                               const CudnnTensor*, const void* dy, const CudnnTensor*, void* dx,
                               const CudnnTensor* parameters, const void* scale, void* dscale,
                               void* dbias, double epsilon, const void* mean,
                               const void* inverse_deviation) = nullptr;

  // ---- Activations and pooling
  CudnnStatus (*activation_forward)(CudnnContext*, CudnnActivation*, const void* alpha,
                                    const CudnnTensor*, const void* x, const void* beta,
                                    const CudnnTensor*, void* y) = nullptr;
  CudnnStatus (*activation_backward)(CudnnContext*, CudnnActivation*, const void* alpha,
                                     const CudnnTensor*, const void* y, const CudnnTensor*,
                                     const void* dy, const CudnnTensor*, const void* x,
                                     const void* beta, const CudnnTensor*, void* dx) = nullptr;
  CudnnStatus (*pooling_forward)(CudnnContext*, const CudnnPooling*, const void* alpha,
                                 const CudnnTensor*, const void* x, const void* beta,
                                 const CudnnTensor*, void* y) = nullptr;
  CudnnStatus (*pooling_backward)(CudnnContext*, const CudnnPooling*, const void* alpha,
                                  const CudnnTensor*, const void* y, const CudnnTensor*,
                                  const void* dy, const CudnnTensor*, const void* x,
                                  const void* beta, const CudnnTensor*, void* dx) = nullptr;
};

// Calls visit(name, member) with cuDNN's name of every function.
template <typename Visit>
void for_each_cudnn_function(const Visit& visit) {
  using F = CudnnFunctions;
  visit("cudnnGetVersion", &F::get_version);
  visit("cudnnGetErrorString", &F::get_error_string);
  visit("cudnnCreate", &F::create);
  visit("cudnnDestroy", &F::destroy);
  visit("cudnnSetStream", &F::set_stream);
  visit("cudnnCreateTensorDescriptor", &F::create_tensor);
  visit("cudnnDestroyTensorDescriptor", &F::destroy_tensor);
  visit("cudnnSetTensor4dDescriptor", &F::set_tensor);
  visit("cudnnCreateFilterDescriptor", &F::create_filter);
  visit("cudnnDestroyFilterDescriptor", &F::destroy_filter);
  visit("cudnnSetFilter4dDescriptor", &F::set_filter);
  visit("cudnnCreateConvolutionDescriptor", &F::create_convolution);
  visit("cudnnDestroyConvolutionDescriptor", &F::destroy_convolution);
  visit("cudnnSetConvolution2dDescriptor", &F::set_convolution);
  visit("cudnnSetConvolutionMathType", &F::set_math);
  visit("cudnnCreateActivationDescriptor", &F::create_activation);
  visit("cudnnDestroyActivationDescriptor", &F::destroy_activation);
  visit("cudnnSetActivationDescriptor", &F::set_activation);
  visit("cudnnCreatePoolingDescriptor", &F::create_pooling);
  visit("cudnnDestroyPoolingDescriptor", &F::destroy_pooling);
  visit("cudnnSetPooling2dDescriptor", &F::set_pooling);
  visit("cudnnGetConvolutionForwardAlgorithm_v7", &F::forward_algorithms);
  visit("cudnnGetConvolutionForwardWorkspaceSize", &F::forward_workspace);
  visit("cudnnGetConvolutionBackwardDataAlgorithm_v7", &F::data_algorithms);
  visit("cudnnGetConvolutionBackwardDataWorkspaceSize", &F::data_workspace);
  visit("cudnnGetConvolutionBackwardFilterAlgorithm_v7", &F::filter_algorithms);
  visit("cudnnGetConvolutionBackwardFilterWorkspaceSize", &F::filter_workspace);
  visit("cudnnConvolutionForward", &F::forward);
  visit("cudnnConvolutionBackwardData", &F::backward_data);
  visit("cudnnConvolutionBackwardFilter", &F::backward_filter);
  visit("cudnnConvolutionBackwardBias", &F::backward_bias);
  visit("cudnnAddTensor", &F::add_tensor);
  visit("cudnnBatchNormalizationForwardTraining", &F::norm_forward);
  visit("cudnnBatchNormalizationForwardInference", &F::norm_inference);
  visit("cudnnBatchNormalizationBackward", &F::norm_backward);
  visit("cudnnActivationForward", &F::activation_forward);
  visit("cudnnActivationBackward", &F::activation_backward);
  visit("cudnnPoolingForward", &F::pooling_forward);
  visit("cudnnPoolingBackward", &F::pooling_backward);
}

}  // namespace lab::library
