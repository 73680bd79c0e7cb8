#pragma once
// What the layers by cuDNN and cuBLAS need from a GPU besides the libraries' own calls.
//
// Errors   Error(DeviceLost) once an error has ended the GPU's context; functions marked noexcept
//          ignore a lost GPU
#include <string>

#include "compute/gpu/gpu_backend.h"

namespace lab::library {

class LibraryHost {
 public:
  LibraryHost() = default;
  virtual ~LibraryHost() = default;
  LibraryHost(const LibraryHost&) = delete;
  LibraryHost& operator=(const LibraryHost&) = delete;

  // Makes the GPU the calling thread's current device, on which the libraries create handles.
  virtual void use() = 0;
  // As use(), for destructors: returns false if the GPU is no longer usable.
  virtual bool use_quietly() noexcept = 0;

  // The cudaStream_t of a stream.
  virtual void* native(GpuStream& stream) = 0;
  virtual bool recorded(GpuStream& stream) = 0;

  // Reports that a library's `call` failed with `why`: throws Error(DeviceLost) if the GPU's
  // context has ended, otherwise Error(Cuda).
  [[noreturn]] virtual void fail(const std::string& call, const std::string& why) = 0;
};

}  // namespace lab::library
