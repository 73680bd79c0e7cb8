#pragma once
// The handles of cuDNN and cuBLAS on one GPU, cuDNN's descriptors, and the check of every call.
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "compute/gpu/library/layer_libraries.h"
#include "compute/gpu/library/library_host.h"

namespace lab::library {

template <class T>
using Owned = std::unique_ptr<T, CudnnStatus (*)(T*)>;

inline constexpr float kOne = 1, kZero = 0;

// Not thread-safe. Descriptors are created once and kept, so that work that has run before creates
// nothing when it is recorded.
class LibraryCalls {
  const LayerLibraries libraries_;  // before the references to it

 public:
  // Creates both handles. Throws Error(Cuda) naming the call and the library's words.
  LibraryCalls(const LayerLibraries& libraries, std::unique_ptr<LibraryHost> host);
  ~LibraryCalls();
  LibraryCalls(const LibraryCalls&) = delete;
  LibraryCalls& operator=(const LibraryCalls&) = delete;

  const CudnnFunctions& dnn = libraries_.cudnn;
  const CublasFunctions& blas = libraries_.cublas;
  CudnnContext* dnn_handle() const { return dnn_handle_; }
  CublasContext* blas_handle() const { return blas_handle_; }
  const std::string& versions() const { return libraries_.versions; }

  // Calls until the next begin() queue work on `stream`, or, without one, queue none.
  void begin(GpuStream* stream);
  bool recorded() const { return recorded_; }
  // Gives cuBLAS a workspace until the next begin(); `workspace` is aligned to 256 bytes.
  void set_blas_workspace(std::byte* workspace, std::int64_t bytes);

  // Descriptors of FP32 arrays [n, h, w, c] and of poolings, valid until the next begin().
  const CudnnTensor* tensor(std::int64_t n, std::int64_t c, std::int64_t h = 1, std::int64_t w = 1);
  const CudnnPooling* pooling(std::int64_t window_h, std::int64_t window_w, std::int64_t stride);
  CudnnActivation* activation(CudnnActivationMode mode) const;
  Owned<CudnnFilter> make_filter(std::int64_t out_c, std::int64_t in_c, std::int64_t side);
  Owned<CudnnConvolution> make_convolution(std::int64_t padding, std::int64_t stride);

  // Throws for any status except success: Error(DeviceLost), or Error(Cuda) with the name of the
  // call, sizes() and the library's words.
  template <class Sizes>
  void check(CudnnStatus status, const char* call, const Sizes& sizes) const {
    if (status != CudnnStatus::Success) fail(call, sizes(), words(status));
  }
  template <class Sizes>
  void check(CublasStatus status, const char* call, const Sizes& sizes) const {
    if (status != CublasStatus::Success) fail(call, sizes(), words(status));
  }

  // Throws Error(Internal) while the stream is recorded, when nothing may be created or searched.
  void require_unrecorded(const char* call) const;

 private:
  template <class T>
  Owned<T> make(CudnnStatus (*create)(T**), CudnnStatus (*destroy)(T*), const char* call) const;
  Owned<CudnnActivation> make_activation(CudnnActivationMode mode) const;
  std::string words(CudnnStatus status) const;
  std::string words(CublasStatus status) const;
  void fail(const char* call, const std::string& sizes, const std::string& words) const;

  const std::unique_ptr<LibraryHost> host_;
  CudnnContext* dnn_handle_ = nullptr;
  CublasContext* blas_handle_ = nullptr;
  bool recorded_ = false;
  std::map<std::array<std::int64_t, 4>, Owned<CudnnTensor>> tensors_;
  std::map<std::array<std::int64_t, 3>, Owned<CudnnPooling>> poolings_;
  Owned<CudnnActivation> relu_{nullptr, nullptr}, sigmoid_{nullptr, nullptr};
};

}  // namespace lab::library
