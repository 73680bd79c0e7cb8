#include "compute/gpu/library/library_calls.h"

#include <fmt/format.h>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab::library {
namespace {

// Shares of a batch that change from time to time would otherwise collect descriptors.
constexpr std::size_t kMaxTensors = 4096;

std::string no_sizes() {
  return {};
}

int narrow(std::int64_t size) {
  return static_cast<int>(size);  // gpu_layer_sizes.h has checked it
}

}  // namespace

LibraryCalls::LibraryCalls(const LayerLibraries& libraries, std::unique_ptr<LibraryHost> host)
    : libraries_(libraries), host_(std::move(host)) {
  host_->use();
  check(dnn.create(&dnn_handle_), "cudnnCreate", no_sizes);
  try {
    check(blas.create(&blas_handle_), "cublasCreate", no_sizes);
    relu_ = make_activation(CudnnActivationMode::Relu);
    sigmoid_ = make_activation(CudnnActivationMode::Sigmoid);
  } catch (...) {
    if (blas_handle_ != nullptr) blas.destroy(blas_handle_);
    dnn.destroy(dnn_handle_);
    throw;
  }
}

// The handles of a lost GPU are not destroyed, because their resources were lost with it. The
// others are detached from their last stream, which may have been destroyed already.
LibraryCalls::~LibraryCalls() {
  if (!host_->use_quietly()) return;
  blas.set_stream(blas_handle_, nullptr);
  dnn.set_stream(dnn_handle_, nullptr);
  blas.destroy(blas_handle_);
  dnn.destroy(dnn_handle_);
}

void LibraryCalls::begin(GpuStream* stream) {
  host_->use();
  recorded_ = stream != nullptr && host_->recorded(*stream);
  if (!recorded_ && tensors_.size() > kMaxTensors) tensors_.clear();
  if (stream == nullptr) return;
  check(dnn.set_stream(dnn_handle_, host_->native(*stream)), "cudnnSetStream", no_sizes);
  check(blas.set_stream(blas_handle_, host_->native(*stream)), "cublasSetStream", no_sizes);
}

void LibraryCalls::set_blas_workspace(std::byte* workspace, std::int64_t bytes) {
  check(blas.set_workspace(blas_handle_, workspace, static_cast<std::size_t>(bytes)),
        "cublasSetWorkspace", [&] { return fmt::format("{} B", bytes); });
}

const CudnnTensor* LibraryCalls::tensor(std::int64_t n, std::int64_t c, std::int64_t h,
                                        std::int64_t w) {
  const auto found = tensors_.find({n, c, h, w});
  if (found != tensors_.end()) return found->second.get();
  Owned<CudnnTensor> made =
      make(dnn.create_tensor, dnn.destroy_tensor, "cudnnCreateTensorDescriptor");
  check(dnn.set_tensor(made.get(), CudnnFormat::Nhwc, CudnnData::Float, narrow(n), narrow(c),
                       narrow(h), narrow(w)),
        "cudnnSetTensor4dDescriptor", [&] { return fmt::format("[{},{},{},{}]", n, h, w, c); });
  return tensors_.emplace(std::array{n, c, h, w}, std::move(made)).first->second.get();
}

const CudnnPooling* LibraryCalls::pooling(std::int64_t window_h, std::int64_t window_w,
                                          std::int64_t stride) {
  const auto found = poolings_.find({window_h, window_w, stride});
  if (found != poolings_.end()) return found->second.get();
  Owned<CudnnPooling> made =
      make(dnn.create_pooling, dnn.destroy_pooling, "cudnnCreatePoolingDescriptor");
  check(
      dnn.set_pooling(made.get(), CudnnPoolingMode::AverageCountIncludePadding, CudnnNan::Propagate,
                      narrow(window_h), narrow(window_w), 0, 0, narrow(stride), narrow(stride)),
      "cudnnSetPooling2dDescriptor",
      [&] { return fmt::format("{}x{}, stride {}", window_h, window_w, stride); });
  return poolings_.emplace(std::array{window_h, window_w, stride}, std::move(made))
      .first->second.get();
}

CudnnActivation* LibraryCalls::activation(CudnnActivationMode mode) const {
  return mode == CudnnActivationMode::Relu ? relu_.get() : sigmoid_.get();
}

Owned<CudnnFilter> LibraryCalls::make_filter(std::int64_t out_c, std::int64_t in_c,
                                             std::int64_t side) {
  Owned<CudnnFilter> made =
      make(dnn.create_filter, dnn.destroy_filter, "cudnnCreateFilterDescriptor");
  check(dnn.set_filter(made.get(), CudnnData::Float, CudnnFormat::Nhwc, narrow(out_c), narrow(in_c),
                       narrow(side), narrow(side)),
        "cudnnSetFilter4dDescriptor",
        [&] { return fmt::format("[{},{},{},{}]", out_c, side, side, in_c); });
  return made;
}

Owned<CudnnConvolution> LibraryCalls::make_convolution(std::int64_t padding, std::int64_t stride) {
  Owned<CudnnConvolution> made =
      make(dnn.create_convolution, dnn.destroy_convolution, "cudnnCreateConvolutionDescriptor");
  check(dnn.set_convolution(made.get(), narrow(padding), narrow(padding), narrow(stride),
                            narrow(stride), 1, 1, CudnnConvolutionMode::CrossCorrelation,
                            CudnnData::Float),
        "cudnnSetConvolution2dDescriptor",
        [&] { return fmt::format("padding {}, stride {}", padding, stride); });
  return made;
}

Owned<CudnnActivation> LibraryCalls::make_activation(CudnnActivationMode mode) const {
  Owned<CudnnActivation> made =
      make(dnn.create_activation, dnn.destroy_activation, "cudnnCreateActivationDescriptor");
  check(dnn.set_activation(made.get(), mode, CudnnNan::Propagate, 0),
        "cudnnSetActivationDescriptor", no_sizes);
  return made;
}

template <class T>
Owned<T> LibraryCalls::make(CudnnStatus (*create)(T**), CudnnStatus (*destroy)(T*),
                            const char* call) const {
  require_unrecorded(call);
  T* made = nullptr;
  check(create(&made), call, no_sizes);
  return {made, destroy};
}

void LibraryCalls::require_unrecorded(const char* call) const {
  if (!recorded_) return;
  throw Error(
      Errc::Internal,
      trf("{} is not possible in a recording: run the operation once before it is recorded", call));
}

std::string LibraryCalls::words(CudnnStatus status) const {
  return trf("{} (status {})", dnn.get_error_string(status), static_cast<int>(status));
}

std::string LibraryCalls::words(CublasStatus status) const {
  return trf("{} (status {})", blas.get_status_string(status), static_cast<int>(status));
}

void LibraryCalls::fail(const char* call, const std::string& sizes,
                        const std::string& words) const {
  host_->fail(sizes.empty() ? std::string(call) : fmt::format("{} ({})", call, sizes), words);
}

}  // namespace lab::library
