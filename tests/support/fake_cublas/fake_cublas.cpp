// A fake cuBLAS that multiplies on the CPU.
#include "tests/support/fake_cublas/fake_blas_calls.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

using lab::test::answer;
using lab::test::end;
using lab::test::FakeBlas;
using lab::test::make;

extern "C" {

const char* cublasGetStatusString(cublasStatus_t) {
  return lab::test::kFakeStatusText;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return make(handle, &FakeBlas::handles, "cublasCreate");
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return end(handle, &FakeBlas::handles);
}

// Like the real library, resets the workspace.
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  *handle = {.stream = stream};
  return answer("cublasSetStream");
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return answer("cublasSetWorkspace");
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transpose_a,
                               cublasOperation_t transpose_b, std::int64_t m, std::int64_t n,
                               std::int64_t k, const void* alpha, const void* a,
                               cudaDataType type_a, std::int64_t lda, const void* b,
                               cudaDataType type_b, std::int64_t ldb, const void* beta, void* c,
                               cudaDataType type_c, std::int64_t ldc, cublasComputeType_t compute,
                               cublasGemmAlgo_t) {
  const cublasStatus_t status = answer("cublasGemmEx");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (transpose_a != CUBLAS_OP_N || transpose_b != CUBLAS_OP_N || type_a != type_b ||
      type_c != CUDA_R_32F)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return lab::test::multiply(
      {compute, type_a, handle->stream, handle->workspace, handle->workspace_bytes},
      {m, n, k, a, lda, b, ldb, static_cast<float*>(c), ldc}, *static_cast<const float*>(alpha),
      *static_cast<const float*>(beta));
}

}  // extern "C"
