#pragma once
// Matrix products by cublasLt, the lightweight API of cuBLAS. Its heuristics are queried in
// advance, so that a product costs only its launch.
#include <cublasLt.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/gpu/cuda/matmul/libraries/blas_library.h"

namespace lab::cuda {

class CudaContext;

// C = A*B with the limits, numerics and errors of Cublas, restricted to products for which the
// heuristics offer an algorithm.
class CublasLt {
 public:
  explicit CublasLt(const CudaContext& gpu);
  // `files`: names or paths of the library; the first that loads is used.
  explicit CublasLt(std::unique_ptr<LibraryGpu> gpu,
                    std::vector<std::string> files = library::blas_names("libcublasLt",
                                                                         CUDART_VERSION / 1000));
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  // As Cublas::unavailable().
  std::optional<std::string> unavailable();
  // As unavailable(), or why the library would not compute in this precision, or that the
  // heuristics have no algorithm for the product. Caches the first choice of the heuristics for the
  // last product.
  std::optional<std::string> unsupported(Precision precision, const GpuProduct& product);

  // Asynchronous on `stream`, like Cublas::multiply(). Queries the heuristics, on the host, if
  // precision, shape or alignment differ from those of the cached product.
  void multiply(Precision precision, const GpuProduct& product, cudaStream_t stream);

  // Workspace memory currently held. Callable from any thread.
  std::int64_t workspace_bytes() const noexcept { return workspaces_.held_bytes(); }

 private:
  struct Functions {
    decltype(&cublasLtCreate) create = nullptr;
    decltype(&cublasLtDestroy) destroy = nullptr;
    decltype(&cublasLtMatmulDescCreate) make_operation = nullptr;
    decltype(&cublasLtMatmulDescDestroy) end_operation = nullptr;
    decltype(&cublasLtMatrixLayoutCreate) make_layout = nullptr;
    decltype(&cublasLtMatrixLayoutDestroy) end_layout = nullptr;
    decltype(&cublasLtMatmulPreferenceCreate) make_preference = nullptr;
    decltype(&cublasLtMatmulPreferenceDestroy) end_preference = nullptr;
    decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;
    decltype(&cublasLtMatmulAlgoGetHeuristic) choose = nullptr;
    decltype(&cublasLtMatmul) matmul = nullptr;
  };
  template <class T>
  using Descriptor = std::unique_ptr<T, cublasStatus_t (*)(T*)>;
  using Operation = Descriptor<cublasLtMatmulDescOpaque_t>;
  using Layout = Descriptor<cublasLtMatrixLayoutOpaque_t>;
  using Preference = Descriptor<cublasLtMatmulPreferenceOpaque_t>;

  // The inputs of the heuristics' choice, in the library's column-major convention.
  struct Question {
    Precision precision = Precision::F32;
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t lda = 0, ldb = 0, ldc = 0;
    std::uint32_t align_a = 0, align_b = 0, align_c = 0;  // bytes
    bool operator==(const Question&) const = default;
  };
  struct Plan {
    Question question;
    Operation operation;
    Layout a, b, c;
    std::optional<cublasLtMatmulAlgo_t> algorithm;  // empty if the heuristics have none
  };
  static Question question_of(Precision precision, const GpuProduct& columns);

  void start();
  // Caches the plan of the last question. `columns` is a result of in_columns().
  const Plan& plan_for(Precision precision, const GpuProduct& columns);
  Operation make_operation(Precision precision) const;
  Layout make_layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                     std::int64_t ld) const;
  Preference make_preference(const Question& question) const;
  // The heuristics' first choice, or nothing if they have none.
  std::optional<cublasLtMatmulAlgo_t> choose(const Plan& plan) const;

  std::mutex mutex_;
  const std::unique_ptr<LibraryGpu> gpu_;
  BlasLibrary library_;
  Functions call_;
  StreamWorkspaces workspaces_;
  BlasHandle<cublasLtContext> handle_;
  std::optional<Plan> plan_;
};

}  // namespace lab::cuda
