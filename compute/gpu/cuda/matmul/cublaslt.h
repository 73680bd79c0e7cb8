#pragma once
// Products by cublasLt, cuBLAS's lightweight half: its heuristics are asked beforehand, so that a
// product is a launch and nothing else.
#include <cublasLt.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/gpu/cuda/matmul/blas_library.h"

namespace lab::cuda {

class CudaContext;

// C = A*B, as Cublas has it in limits, numerics and errors, for what the heuristics have an
// algorithm for.
class CublasLt {
 public:
  explicit CublasLt(const CudaContext& gpu);
  // `files`: names or paths of the library, the first that opens counts.
  explicit CublasLt(std::unique_ptr<LibraryGpu> gpu,
                    std::vector<std::string> files = {"libcublasLt.so.13", "libcublasLt.so.12",
                                                      "libcublasLt.so"});
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  // As of Cublas.
  std::optional<std::string> unavailable();
  // The same, why it would not compute in this precision, and that the heuristics have no algorithm
  // for the product. Their first choice is kept for the product last asked of.
  std::optional<std::string> unsupported(Precision precision, const GpuProduct& product);

  // Asynchronous on `stream`, as of Cublas. Asks the heuristics, on the host, where the product
  // last asked of was of another precision, shape or alignment.
  void multiply(Precision precision, const GpuProduct& product, cudaStream_t stream);

  // Workspaces held now. From any thread.
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

  // What the heuristics' choice depends on, as the library sees the matrices.
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
    std::optional<cublasLtMatmulAlgo_t> algorithm;  // nothing: the heuristics have none
  };
  static Question question_of(Precision precision, const GpuProduct& columns);

  void start();
  // Keeps the plan of the last question. `columns`: as in_columns() gives it.
  const Plan& plan_for(Precision precision, const GpuProduct& columns);
  Operation make_operation(Precision precision) const;
  Layout make_layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                     std::int64_t ld) const;
  Preference make_preference(const Question& question) const;
  // The heuristics' first choice; nothing where they have none.
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
