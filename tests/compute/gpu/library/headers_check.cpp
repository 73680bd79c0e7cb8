// Compares the lab's declarations of cuDNN and cuBLAS with the libraries' headers: values when it
// is compiled, and each function's arguments by their kinds and sizes.
#include "tests/compute/gpu/library/headers_check.h"

#include <cublas_v2.h>
#include <cudnn.h>

#include <cstring>
#include <map>
#include <tuple>
#include <type_traits>

#include "compute/gpu/library/cublas_api.h"
#include "compute/gpu/library/cudnn_api.h"

namespace lab::test {
namespace {

using namespace library;  // NOLINT(google-build-using-namespace)

template <class Own, class Theirs>
constexpr bool same(Own own, Theirs theirs) {
  return sizeof(Own) == sizeof(Theirs) && static_cast<int>(own) == static_cast<int>(theirs);
}
static_assert(CUDNN_MAJOR == 9);
static_assert(same(CudnnStatus::Success, CUDNN_STATUS_SUCCESS));
static_assert(same(CudnnFormat::Nhwc, CUDNN_TENSOR_NHWC));
static_assert(same(CudnnData::Float, CUDNN_DATA_FLOAT));
static_assert(same(CudnnMath::Default, CUDNN_DEFAULT_MATH));
static_assert(same(CudnnMath::TensorOp, CUDNN_TENSOR_OP_MATH));
static_assert(same(CudnnMath::TensorOpAllowConversion, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION));
static_assert(same(CudnnMath::Fma, CUDNN_FMA_MATH));
static_assert(same(CudnnConvolutionMode::CrossCorrelation, CUDNN_CROSS_CORRELATION));
static_assert(same(CudnnDeterminism::NonDeterministic, CUDNN_NON_DETERMINISTIC));
static_assert(same(CudnnDeterminism::Deterministic, CUDNN_DETERMINISTIC));
static_assert(same(CudnnNormMode::Spatial, CUDNN_BATCHNORM_SPATIAL));
static_assert(same(CudnnNormMode::SpatialPersistent, CUDNN_BATCHNORM_SPATIAL_PERSISTENT));
static_assert(same(CudnnNan::Propagate, CUDNN_PROPAGATE_NAN));
static_assert(same(CudnnActivationMode::Sigmoid, CUDNN_ACTIVATION_SIGMOID));
static_assert(same(CudnnActivationMode::Relu, CUDNN_ACTIVATION_RELU));
static_assert(same(CudnnPoolingMode::AverageCountIncludePadding,
                   CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING));
static_assert(same(CublasStatus::Success, CUBLAS_STATUS_SUCCESS));
static_assert(same(CublasProperty::Major, MAJOR_VERSION));
static_assert(same(CublasProperty::Minor, MINOR_VERSION));
static_assert(same(CublasOperation::None, CUBLAS_OP_N));
static_assert(same(CublasOperation::Transpose, CUBLAS_OP_T));
static_assert(same(CublasData::Float, CUDA_R_32F));
static_assert(same(CublasCompute::Float, CUBLAS_COMPUTE_32F));
static_assert(same(CublasCompute::FastTf32, CUBLAS_COMPUTE_32F_FAST_TF32));
static_assert(same(CublasAlgorithm::Default, CUBLAS_GEMM_DEFAULT));

template <class Theirs>
constexpr bool same_results() {
  return sizeof(CudnnAlgorithm) == sizeof(Theirs) &&
         offsetof(CudnnAlgorithm, algorithm) == offsetof(Theirs, algo) &&
         offsetof(CudnnAlgorithm, status) == offsetof(Theirs, status) &&
         offsetof(CudnnAlgorithm, time) == offsetof(Theirs, time) &&
         offsetof(CudnnAlgorithm, memory) == offsetof(Theirs, memory) &&
         offsetof(CudnnAlgorithm, determinism) == offsetof(Theirs, determinism) &&
         offsetof(CudnnAlgorithm, math) == offsetof(Theirs, mathType);
}
static_assert(same_results<cudnnConvolutionFwdAlgoPerf_t>());
static_assert(same_results<cudnnConvolutionBwdDataAlgoPerf_t>());
static_assert(same_results<cudnnConvolutionBwdFilterAlgoPerf_t>());

// An argument's kind and size. Pointers to opaque types differ in name only; whether a pointer to
// numbers or untyped memory is const must agree.
template <class T>
std::string kind_of() {
  if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_pointer_t<T>;
    if constexpr (std::is_pointer_v<Target>) {
      return "pointer to pointer";
    } else if constexpr (std::is_void_v<Target> || std::is_arithmetic_v<Target>) {
      return std::is_const_v<Target> ? "pointer to const" : "pointer";
    } else {
      return "object";
    }
  } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return "integer of " + std::to_string(sizeof(T));
  } else {
    return "number of " + std::to_string(sizeof(T));
  }
}

template <class Function>
struct KindsOf;
template <class Result, class... Arguments>
struct KindsOf<Result (*)(Arguments...)> {
  static std::vector<std::string> all() { return {kind_of<Result>(), kind_of<Arguments>()...}; }
};

// A stream is an opaque object for the libraries and untyped memory for the lab.
bool agree(const std::string& own, const std::string& theirs) {
  return own == theirs || (own == "pointer" && theirs == "object");
}

using Kinds = std::map<std::string, std::vector<std::string>>;

// An overload with the older type of the computation is in the header, too.
using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                const void*, const void*, cudaDataType, int, const void*,
                                cudaDataType, int, const void*, void*, cudaDataType, int,
                                cublasComputeType_t, cublasGemmAlgo_t);

// The functions are not linked.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define LAB_DECLARED(function) \
  { #function, KindsOf < decltype(&function)> ::all() }

Kinds declared_by_cudnn() {
  return {LAB_DECLARED(cudnnGetVersion),
          LAB_DECLARED(cudnnGetErrorString),
          LAB_DECLARED(cudnnCreate),
          LAB_DECLARED(cudnnDestroy),
          LAB_DECLARED(cudnnSetStream),
          LAB_DECLARED(cudnnCreateTensorDescriptor),
          LAB_DECLARED(cudnnDestroyTensorDescriptor),
          LAB_DECLARED(cudnnSetTensor4dDescriptor),
          LAB_DECLARED(cudnnCreateFilterDescriptor),
          LAB_DECLARED(cudnnDestroyFilterDescriptor),
          LAB_DECLARED(cudnnSetFilter4dDescriptor),
          LAB_DECLARED(cudnnCreateConvolutionDescriptor),
          LAB_DECLARED(cudnnDestroyConvolutionDescriptor),
          LAB_DECLARED(cudnnSetConvolution2dDescriptor),
          LAB_DECLARED(cudnnSetConvolutionMathType),
          LAB_DECLARED(cudnnCreateActivationDescriptor),
          LAB_DECLARED(cudnnDestroyActivationDescriptor),
          LAB_DECLARED(cudnnSetActivationDescriptor),
          LAB_DECLARED(cudnnCreatePoolingDescriptor),
          LAB_DECLARED(cudnnDestroyPoolingDescriptor),
          LAB_DECLARED(cudnnSetPooling2dDescriptor),
          LAB_DECLARED(cudnnGetConvolutionForwardAlgorithm_v7),
          LAB_DECLARED(cudnnGetConvolutionForwardWorkspaceSize),
          LAB_DECLARED(cudnnGetConvolutionBackwardDataAlgorithm_v7),
          LAB_DECLARED(cudnnGetConvolutionBackwardDataWorkspaceSize),
          LAB_DECLARED(cudnnGetConvolutionBackwardFilterAlgorithm_v7),
          LAB_DECLARED(cudnnGetConvolutionBackwardFilterWorkspaceSize),
          LAB_DECLARED(cudnnConvolutionForward),
          LAB_DECLARED(cudnnConvolutionBackwardData),
          LAB_DECLARED(cudnnConvolutionBackwardFilter),
          LAB_DECLARED(cudnnConvolutionBackwardBias),
          LAB_DECLARED(cudnnAddTensor),
          LAB_DECLARED(cudnnBatchNormalizationForwardTraining),
          LAB_DECLARED(cudnnBatchNormalizationForwardInference),
          LAB_DECLARED(cudnnBatchNormalizationBackward),
          LAB_DECLARED(cudnnActivationForward),
          LAB_DECLARED(cudnnActivationBackward),
          LAB_DECLARED(cudnnPoolingForward),
          LAB_DECLARED(cudnnPoolingBackward)};
}

Kinds declared_by_cublas() {
  return {LAB_DECLARED(cublasGetProperty),
          LAB_DECLARED(cublasGetStatusString),
          LAB_DECLARED(cublasCreate_v2),
          LAB_DECLARED(cublasDestroy_v2),
          LAB_DECLARED(cublasSetStream_v2),
          LAB_DECLARED(cublasSetWorkspace_v2),
          {"cublasGemmEx", KindsOf<decltype(static_cast<Gemm>(&cublasGemmEx))>::all()}};
}
#undef LAB_DECLARED

template <class Function>
void compare(const Kinds& declared, const char* name, Function /*own*/,
             std::vector<std::string>& differences) {
  const auto found = declared.find(name);
  if (found == declared.end()) {
    differences.push_back(std::string(name) + " is not compared");
    return;
  }
  const std::vector<std::string> mine = KindsOf<Function>::all();
  const std::vector<std::string>& theirs = found->second;
  if (mine.size() != theirs.size()) {
    differences.push_back(std::string(name) + " has another number of arguments");
    return;
  }
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (agree(mine[i], theirs[i])) continue;
    differences.push_back(std::string(name) + ", " + std::to_string(i) + ": " + mine[i] + ", not " +
                          theirs[i]);
  }
}

}  // namespace

std::vector<std::string> differences_from_headers() {
  std::vector<std::string> differences;
  const CudnnFunctions cudnn;
  for_each_cudnn_function([&, declared = declared_by_cudnn()](const char* name, auto member) {
    compare(declared, name, cudnn.*member, differences);
  });
  const CublasFunctions cublas;
  for_each_cublas_function([&, declared = declared_by_cublas()](const char* name, auto member) {
    compare(declared, name, cublas.*member, differences);
  });
  return differences;
}

}  // namespace lab::test
