#pragma once
// What cuBLAS and cublasLt have in common: how they are opened, how a product is put to them, and
// what becomes of their answers.
#include <cublas_v2.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/dtype.h"
#include "compute/core/error.h"
#include "compute/gpu/cuda/matmul/library_gpu.h"
#include "compute/gpu/dynamic_library.h"

namespace lab::cuda {

struct BlasName {
  const char* title;     // for people
  const char* property;  // its function of cublasGetProperty's type
  const char* words;     // its function of cublasGetStatusString's type
};

// One of the libraries, opened by name when it is first needed and never linked: where it is
// missing nothing else must break.
class BlasLibrary {
 public:
  // `files`: names or paths, tried in this order.
  BlasLibrary(const BlasName& name, std::vector<std::string> files, LibraryGpu& gpu);

  // Does nothing where it is open. Throws Error(Unsupported) with the loader's reason, or where the
  // library is of a major version whose functions may differ from those of the headers.
  void open();

  // Throws Error(Unsupported) where the open library has no such function.
  template <class F>
  void find(const char* symbol, F*& function) const {
    function = library_->function<F*>(symbol);
    if (function == nullptr) throw lacks(symbol);
  }

  // Throws for anything but success: Error(DeviceLost) or Error(Cuda) naming `call` and the
  // library's words.
  void check(cublasStatus_t status, const char* call) const;

 private:
  void require_known_version() const;
  Error lacks(const char* symbol) const;

  const BlasName name_;
  const std::vector<std::string> files_;
  LibraryGpu& gpu_;
  Maybe<DynamicLibrary> library_;
  decltype(&cublasGetStatusString) words_ = nullptr;
};

// A library's handle, which ends with the object; a lost GPU took what it held with it.
template <class Context>
struct EndHandle {
  LibraryGpu* gpu = nullptr;
  cublasStatus_t (*destroy)(Context*) = nullptr;
  void operator()(Context* handle) const {
    if (gpu->use_quietly()) destroy(handle);
  }
};
template <class Context>
using BlasHandle = std::unique_ptr<Context, EndHandle<Context>>;

// Source  cuBLAS documentation, cublasSetWorkspace: what it advises for Hopper, the most of any.
inline constexpr std::int64_t kWorkspaceBytes = 32LL << 20;

// Memory in which a library keeps partial sums, one piece for each stream, since what two streams
// run at once must not share it.
class StreamWorkspaces {
 public:
  explicit StreamWorkspaces(LibraryGpu& gpu) : gpu_(gpu) {}
  ~StreamWorkspaces();
  StreamWorkspaces(const StreamWorkspaces&) = delete;
  StreamWorkspaces& operator=(const StreamWorkspaces&) = delete;

  // kWorkspaceBytes of the GPU, for `stream` alone until kMostStreams others have come. A stream
  // that has none yet may wait for the GPU. Throws Error(OutOfMemory) naming the size.
  void* of(cudaStream_t stream);
  static constexpr std::size_t kMostStreams = 4;

  // Of the GPU, held now. From any thread.
  std::int64_t held_bytes() const noexcept { return held_bytes_; }

 private:
  struct Piece {
    unsigned long long stream;  // LibraryGpu::id_of
    void* memory;
  };
  LibraryGpu& gpu_;
  std::vector<Piece> pieces_;
  std::size_t oldest_ = 0;
  std::atomic<std::int64_t> held_bytes_ = 0;
};

// Why the library would compute in another precision than asked for, or nothing: it reads
// NVIDIA_TF32_OVERRIDE and CUBLAS_EMULATE_SINGLE_PRECISION from the environment, which count more
// than a call's arguments.
std::optional<std::string> overridden(Precision precision);

// The sentence of an Error(Unsupported) or Error(Cuda) that `start` throws, or nothing.
template <class Start>
std::optional<std::string> reason_of(const Start& start) {
  try {
    start();
  } catch (const Error& error) {
    if (error.code() != Errc::Unsupported && error.code() != Errc::Cuda) throw;
    return error.what();
  }
  return std::nullopt;
}

// How the libraries are told of a precision; C is CUDA_R_32F.
struct BlasTypes {
  cudaDataType_t factors;
  cublasComputeType_t compute;
};
BlasTypes types_of(Precision precision);

// The same memory with columns for rows, as the libraries see it: transpose(C) = transpose(B) *
// transpose(A), so M is the product's N and A its B.
GpuProduct in_columns(const GpuProduct& product);

// Does what takes no library: nothing for an empty C, zeros for K = 0. Whether that was all.
bool done_without_factors(LibraryGpu& gpu, const GpuProduct& product, cudaStream_t stream);
inline bool needs_factors(const GpuProduct& product) {
  return product.m > 0 && product.n > 0 && product.k > 0;
}

}  // namespace lab::cuda
