#pragma once
// Shared by cuBLAS and cublasLt: loading the library, mapping a product to its conventions, and
// converting its status codes to errors.
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
#include "compute/gpu/cuda/matmul/libraries/library_gpu.h"
#include "compute/gpu/dynamic_library.h"
#include "compute/gpu/library/cublas_api.h"
#include "compute/gpu/library/library_environment.h"

namespace lab::cuda {

struct BlasName {
  const char* title;     // for display
  const char* property;  // name of its cublasGetProperty
  const char* words;     // name of its cublasGetStatusString
};

// One of the libraries, loaded by name on first use and never linked, so that a missing library
// disables only its own rungs.
class BlasLibrary {
 public:
  // `files`: names or paths, tried in this order.
  BlasLibrary(const BlasName& name, std::vector<std::string> files, LibraryGpu& gpu);

  // Loads the library unless it is loaded already. Throws Error(Unsupported) with the loader's
  // reason, or if the library's major version may have functions that differ from the headers'.
  void open();

  // Throws Error(Unsupported) if the loaded library lacks the function.
  template <class F>
  void find(const char* symbol, F*& function) const {
    function = library_->function<F*>(symbol);
    if (function == nullptr) throw lacks(symbol);
  }

  // Throws for any status except success: Error(DeviceLost), or Error(Cuda) naming `call` and the
  // library's status text.
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

// Deleter of a library handle. The handle of a lost GPU is not destroyed, because its resources
// were lost with the GPU.
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

// Source  cuBLAS documentation, cublasSetWorkspace: the size recommended for Hopper, the largest.
inline constexpr std::int64_t kWorkspaceBytes = 32LL << 20;

// Workspaces in which a library stores partial results, one per stream, because streams that run
// concurrently must not share one.
class StreamWorkspaces {
 public:
  explicit StreamWorkspaces(LibraryGpu& gpu) : gpu_(gpu) {}
  ~StreamWorkspaces();
  StreamWorkspaces(const StreamWorkspaces&) = delete;
  StreamWorkspaces& operator=(const StreamWorkspaces&) = delete;

  // Returns kWorkspaceBytes of GPU memory, reserved for `stream` until kMaxStreams other streams
  // have requested one. The first call for a stream may wait for the GPU. Throws Error(OutOfMemory)
  // naming the size.
  void* of(cudaStream_t stream);
  static constexpr std::size_t kMaxStreams = 4;

  // GPU memory currently held. Callable from any thread.
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

using library::overridden;

// Returns the message of an Error(Unsupported) or Error(Cuda) thrown by `start`, or nothing if it
// succeeds. Other errors propagate.
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

// The libraries' types for a precision: operand type and compute type; C is CUDA_R_32F.
struct BlasTypes {
  cudaDataType_t operands;
  cublasComputeType_t compute;
};
BlasTypes types_of(Precision precision);

// The product in the libraries' column-major convention on the same memory: transpose(C) =
// transpose(B) * transpose(A), so the result's M is the product's N and its A is the product's B.
GpuProduct in_columns(const GpuProduct& product);

// Handles products that need no library: nothing for an empty C, zeros for K = 0. Returns whether
// the product is done.
bool done_without_operands(LibraryGpu& gpu, const GpuProduct& product, cudaStream_t stream);
inline bool needs_operands(const GpuProduct& product) {
  return product.m > 0 && product.n > 0 && product.k > 0;
}

}  // namespace lab::cuda
