#pragma once
// The GPU operations that the cuBLAS and cublasLt rungs need besides the libraries' own calls.
// Separated from the CUDA runtime so that tests can substitute host memory.
//
// Errors   Error(DeviceLost) once an error has ended the GPU's context, and the errors documented
//          per function; functions marked noexcept ignore a lost GPU
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

  // Makes the GPU the calling thread's current device.
  virtual void use() = 0;
  // As use(), for destructors: returns false if the GPU is no longer usable.
  virtual bool use_quietly() noexcept = 0;

  // `bytes` > 0; 256-byte aligned. Throws Error(OutOfMemory) naming the size.
  virtual void* allocate(std::int64_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;

  // An identifier that, unlike the stream's handle, is never reused within the process.
  virtual unsigned long long id_of(cudaStream_t stream) = 0;

  // Sets C to zero, asynchronously on `stream`; rows are ldc apart. M, N > 0.
  virtual void clear(const GpuProduct& product, cudaStream_t stream) = 0;
  // Waits until all work queued on the GPU has run.
  virtual void wait() = 0;

  // Reports that a library's `call` failed with `why`: throws Error(DeviceLost) if the GPU's
  // context has ended, otherwise Error(Cuda).
  [[noreturn]] virtual void fail(const std::string& call, const std::string& why) = 0;
};

}  // namespace lab::cuda
