#pragma once
// Matrix products by cuBLAS, NVIDIA's linear algebra library, in each precision.
#include <cublas_v2.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/gpu/cuda/matmul/libraries/blas_library.h"

namespace lab::cuda {

class CudaContext;

// C = A*B with the layout of GpuProduct, for one GPU. Thread-safe.
//
// Limits   any M,N,K >= 0; K == 0 writes zeros, an empty C writes nothing; operands aligned to
//          their elements
// Numerics FP32 accumulation; F32 neither rounds nor splits its operands, TF32 rounds them as the
//          GPU's tensor cores do
// Errors   Error(Unsupported) if unsupported() returns a reason, Error(Cuda) naming the call and
//          the library's status text, Error(OutOfMemory) naming the workspace's size,
//          Error(DeviceLost)
class Cublas {
 public:
  explicit Cublas(const CudaContext& gpu);
  // `files`: names or paths of the library; the first that loads is used.
  explicit Cublas(std::unique_ptr<LibraryGpu> gpu,
                  std::vector<std::string> files = library::blas_names("libcublas",
                                                                       CUDART_VERSION / 1000));
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // Returns why the library cannot be used on this GPU, or nullopt. The first query loads it, which
  // allocates GPU memory and takes up to several seconds. A failed load is retried by the next
  // query.
  std::optional<std::string> unavailable();
  // Like unavailable(); also returns why the library would not compute in this precision.
  std::optional<std::string> unsupported(Precision precision, const GpuProduct& product);

  // Asynchronous on `stream`: one or two kernels, or one fill. The first product on a stream
  // allocates its workspace and may wait for the GPU.
  void multiply(Precision precision, const GpuProduct& product, cudaStream_t stream);

  // Workspace memory currently held. Callable from any thread.
  std::int64_t workspace_bytes() const noexcept { return workspaces_.held_bytes(); }

 private:
  struct Functions {
    decltype(&cublasCreate_v2) create = nullptr;
    decltype(&cublasDestroy_v2) destroy = nullptr;
    decltype(&cublasSetStream_v2) set_stream = nullptr;
    decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
    decltype(&cublasGemmEx_64) gemm = nullptr;
  };
  void start();

  std::mutex mutex_;  // a handle's stream and workspace serve one call at a time
  const std::unique_ptr<LibraryGpu> gpu_;
  BlasLibrary library_;
  Functions call_;
  StreamWorkspaces workspaces_;
  BlasHandle<cublasContext> handle_;
};

}  // namespace lab::cuda
