#pragma once
// What cuBLAS and cublasLt need of a GPU beyond their own calls, apart from the CUDA runtime, so
// that tests put host memory in its place.
//
// Errors   Error(DeviceLost) once an error has ended the GPU's context, else as told; functions
//          marked noexcept ignore it
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "compute/gpu/gpu_matmul.h"

namespace lab::cuda {

class LibraryGpu {
 public:
  LibraryGpu() = default;
  virtual ~LibraryGpu() = default;
  LibraryGpu(const LibraryGpu&) = delete;
  LibraryGpu& operator=(const LibraryGpu&) = delete;

  // Makes the GPU the calling thread's.
  virtual void use() = 0;
  // The same for destructors: false where the GPU cannot be used any more.
  virtual bool use_quietly() noexcept = 0;

  // `bytes` > 0; 256-byte aligned. Throws Error(OutOfMemory) naming the size.
  virtual void* allocate(std::int64_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;

  // What no other stream of the program has had or will have, unlike its handle.
  virtual unsigned long long id_of(cudaStream_t stream) = 0;

  // Zeros in all of C, asynchronous on `stream`; rows stay ldc apart. M, N > 0.
  virtual void clear(const GpuProduct& product, cudaStream_t stream) = 0;
  // Until all that was queued on the GPU has run.
  virtual void wait() = 0;

  // A library's `call` answered `why`: throws Error(DeviceLost) where the GPU's context has ended,
  // else Error(Cuda).
  [[noreturn]] virtual void fail(const std::string& call, const std::string& why) = 0;
};

}  // namespace lab::cuda
