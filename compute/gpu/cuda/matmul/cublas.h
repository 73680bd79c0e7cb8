#pragma once
// Products by cuBLAS, NVIDIA's library of linear algebra, in each precision.
#include <cublas_v2.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compute/gpu/cuda/matmul/blas_library.h"

namespace lab::cuda {

class CudaContext;

// C = A*B, as GpuProduct has it, for one GPU. May be used from several threads.
//
// Limits   any M,N,K >= 0; K == 0 writes zeros, an empty C nothing; factors aligned to their
//          elements
// Numerics sums are f32; F32 neither rounds nor splits its factors, TF32 rounds them as the GPU's
//          tensor cores do
// Errors   Error(Unsupported) where unsupported() names a reason, Error(Cuda) naming the call and
//          the library's words, Error(OutOfMemory) naming the workspace's size, Error(DeviceLost)
class Cublas {
 public:
  explicit Cublas(const CudaContext& gpu);
  // `files`: names or paths of the library, the first that opens counts.
  explicit Cublas(std::unique_ptr<LibraryGpu> gpu,
                  std::vector<std::string> files = {"libcublas.so.13", "libcublas.so.12",
                                                    "libcublas.so"});
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // Why the library cannot be used on this GPU, or nothing. The first question opens it, which
  // takes memory on the GPU and up to seconds; one that it fails is asked anew.
  std::optional<std::string> unavailable();
  // The same, and why it would not compute in this precision.
  std::optional<std::string> unsupported(Precision precision, const GpuProduct& product);

  // Asynchronous on `stream`: one or two kernels, or one fill. The first product on a stream takes
  // a workspace for it and may wait for the GPU.
  void multiply(Precision precision, const GpuProduct& product, cudaStream_t stream);

  // Workspaces held now. From any thread.
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

  std::mutex mutex_;  // a handle's stream and workspace belong to one call at a time
  const std::unique_ptr<LibraryGpu> gpu_;
  BlasLibrary library_;
  Functions call_;
  StreamWorkspaces workspaces_;
  BlasHandle<cublasContext> handle_;
};

}  // namespace lab::cuda
