#pragma once
// The part of cuBLAS that the layers of networks call, declared as in cudnn_api.h.
//
// Source  cuBLAS 13.1, <cublas_api.h>, <library_types.h>
#include <cstddef>
#include <string>
#include <vector>

namespace lab::library {

// The names of "libcublas" or "libcublasLt" for a build with that CUDA, its own version first: the
// driver may be too old for a later one, which loads nevertheless.
inline std::vector<std::string> blas_names(const std::string& library, int cuda_major) {
  const int other = cuda_major == 12 ? 13 : 12;
  return {library + ".so." + std::to_string(cuda_major), library + ".so." + std::to_string(other),
          library + ".so"};
}

struct CublasContext;        // opaque; a handle points to it
using CublasStream = void*;  // a cudaStream_t

enum class CublasStatus : int { Success = 0 };
enum class CublasProperty : int { Major = 0, Minor = 1 };
enum class CublasOperation : int { None = 0, Transpose = 1 };
enum class CublasData : int { Float = 0 };
enum class CublasCompute : int { Float = 68, FastTf32 = 77 };
enum class CublasAlgorithm : int { Default = -1 };

struct CublasFunctions {
  CublasStatus (*get_property)(CublasProperty, int* value) = nullptr;
  const char* (*get_status_string)(CublasStatus) = nullptr;
  CublasStatus (*create)(CublasContext**) = nullptr;
  CublasStatus (*destroy)(CublasContext*) = nullptr;
  CublasStatus (*set_stream)(CublasContext*, CublasStream) = nullptr;
  // In GPU memory, aligned to 256 bytes. Setting a stream restores the library's own workspace.
  CublasStatus (*set_workspace)(CublasContext*, void* workspace, std::size_t bytes) = nullptr;
  // C [m, n] = alpha * op(A) [m, k] * op(B) [k, n] + beta * C, column-major.
  CublasStatus (*gemm)(CublasContext*, CublasOperation a_op, CublasOperation b_op, int m, int n,
                       int k, const void* alpha, const void* a, CublasData a_type, int lda,
                       const void* b, CublasData b_type, int ldb, const void* beta, void* c,
                       CublasData c_type, int ldc, CublasCompute, CublasAlgorithm) = nullptr;
};

// Calls visit(name, member) with cuBLAS's name of every function.
template <typename Visit>
void for_each_cublas_function(const Visit& visit) {
  using F = CublasFunctions;
  visit("cublasGetProperty", &F::get_property);
  visit("cublasGetStatusString", &F::get_status_string);
  visit("cublasCreate_v2", &F::create);
  visit("cublasDestroy_v2", &F::destroy);
  visit("cublasSetStream_v2", &F::set_stream);
  visit("cublasSetWorkspace_v2", &F::set_workspace);
  visit("cublasGemmEx", &F::gemm);
}

}  // namespace lab::library
