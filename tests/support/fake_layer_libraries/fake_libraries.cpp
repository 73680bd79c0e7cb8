#include "tests/support/fake_layer_libraries/fake_libraries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "compute/gpu/emulator/device/handles.h"
#include "compute/gpu/library/library_layers.h"
#include "tests/support/fake_layer_libraries/fake_math.h"

namespace lab::test {
namespace {

FakeLibraries* current_libraries = nullptr;
thread_local GpuDevice* current_gpu = nullptr;

struct FakeHandle {
  GpuDevice* gpu = nullptr;
  GpuStream* stream = nullptr;                // null: the default stream, on which nothing may run
  std::weak_ptr<emulated::Queue> queue = {};  // of the stream: expires with it
  void* workspace = nullptr;                  // of cuBLAS
  std::size_t workspace_bytes = 0;
};

constexpr std::size_t kAlignment = 256;

}  // namespace
}  // namespace lab::test

// ---- The opaque types

namespace lab::library {

struct CudnnContext : test::FakeHandle {};
struct CublasContext : test::FakeHandle {};
struct CudnnTensor {
  bool set = false;
  std::int64_t n = 0, c = 0, h = 0, w = 0;
  std::int64_t count() const { return n * c * h * w; }
  bool operator==(const CudnnTensor&) const = default;
};
struct CudnnFilter {
  bool set = false;
  std::int64_t k = 0, c = 0, h = 0, w = 0;
  std::int64_t count() const { return k * c * h * w; }
};
struct CudnnConvolution {
  bool set = false;
  std::int64_t padding = 0, stride = 0;
  CudnnMath asked = CudnnMath::Default;  // when the algorithms were searched
  CudnnMath math = CudnnMath::Default;
};
struct CudnnActivation {
  bool set = false;
  CudnnActivationMode mode = CudnnActivationMode::Relu;
};
struct CudnnPooling {
  bool set = false;
  std::int64_t window_h = 0, window_w = 0, stride = 0;
};

}  // namespace lab::library

namespace lab::test {

using namespace library;  // NOLINT(google-build-using-namespace)

struct FakeLibraries::Misuse : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Status, class Body>
Status FakeLibraries::call(const char* function, const Body& body) {
  FakeLibraries& fake = *current_libraries;
  const std::lock_guard lock(fake.mutex_);
  ++fake.calls_[function];
  if (fake.failing_ == function) return static_cast<Status>(fake.failing_status_);
  try {
    body(fake);
    return Status::Success;
  } catch (const Misuse& misuse) {
    fake.problems_.push_back(std::string(function) + ": " + misuse.what());
    constexpr int kBadParameter = 2000;
    return static_cast<Status>(kBadParameter);
  }
}

struct FakeCalls {
  using Misuse = FakeLibraries::Misuse;

  // ---- Checks

  static void require(bool condition, const std::string& problem) {
    if (!condition) throw Misuse(problem);
  }

  static void require_unrecorded(const FakeLibraries& fake) {
    for (const auto& [one, owner] : fake.handles_) {
      const auto* handle = static_cast<const FakeHandle*>(one);
      const auto queue = handle->queue.lock();
      require(handle->gpu != current_gpu || !queue || !queue->recording,
              "not allowed while a stream of the GPU is recorded");
    }
  }

  template <class Handle>
  static const FakeHandle& handle(const FakeLibraries& fake, Handle* handle) {
    require(fake.handles_.contains(static_cast<FakeHandle*>(handle)), "not a live handle");
    require(handle->gpu == current_gpu, "the handle belongs to another GPU");
    return *handle;
  }

  template <class T>
  static const T& descriptor(const FakeLibraries& fake, const T* one) {
    require(fake.descriptors_.contains(one), "not a live descriptor");
    require(one->set, "the descriptor is not set");
    return *one;
  }

  // The work of one call: its arrays are checked now and again when it runs.
  class Work {
   public:
    Work(const char* name, const FakeHandle& handle) : name_(name), handle_(handle) {
      require(handle.stream != nullptr, "no stream was set");
      require(!handle.queue.expired(), "the stream has been destroyed");
    }
    void use(const void* array, std::int64_t bytes) {
      require(array != nullptr, "an array is null");
      require(stream().core().memory.usable(array, bytes),
              std::to_string(bytes) + " bytes are not within one allocation of the GPU");
      arrays_.emplace_back(array, bytes);
    }
    void use(const void* array, const CudnnTensor& shape) { use(array, 4 * shape.count()); }
    // Not the memory of an array named before.
    void write(const void* array, std::int64_t bytes) {
      const auto* const begin = static_cast<const std::byte*>(array);
      for (const auto& [other, other_bytes] : arrays_) {
        const auto* const at = static_cast<const std::byte*>(other);
        require(begin + bytes <= at || at + other_bytes <= begin, "the result overlaps an operand");
      }
      use(array, bytes);
    }
    void write(const void* array, const CudnnTensor& shape) { write(array, 4 * shape.count()); }
    void workspace(void* memory, std::size_t bytes, std::int64_t needed) {
      require(static_cast<std::int64_t>(bytes) >= needed, "the workspace is too small");
      if (needed == 0) return;
      require(reinterpret_cast<std::uintptr_t>(memory) % kAlignment == 0,
              "the workspace is misaligned");
      write(memory, static_cast<std::int64_t>(bytes));
      dirty_ = memory;
      dirty_bytes_ = static_cast<std::size_t>(needed);
    }
    float factor(const void* value) const {
      require(value != nullptr && !stream().core().memory.contains(value),
              "a factor is not in host memory");
      return *static_cast<const float*>(value);
    }
    Blend blend(const void* alpha, const void* beta) const { return {factor(alpha), factor(beta)}; }
    void queue(std::function<void()> body) {
      emulated::Core& core = stream().core();
      stream().push({name_, [=, this_work = *this, body = std::move(body), &core] {
                       for (const auto& [array, bytes] : this_work.arrays_) {
                         if (core.memory.allocated(array, bytes)) continue;
                         throw std::runtime_error("memory that was released after the call");
                       }
                       if (this_work.dirty_ != nullptr) {
                         std::memset(this_work.dirty_, 0xff, this_work.dirty_bytes_);
                       }
                       body();
                     }});
    }

   private:
    emulated::EmulatedStream& stream() const { return emulated::raw(*handle_.stream); }

    const char* name_;
    FakeHandle handle_;
    std::vector<std::pair<const void*, std::int64_t>> arrays_;
    void* dirty_ = nullptr;
    std::size_t dirty_bytes_ = 0;
  };

  // ---- Handles

  static std::size_t version() { return 91900; }
  static const char* text(CudnnStatus status) {
    return status == CudnnStatus::Success ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_SET_BY_THE_TEST";
  }
  static const char* blas_text(CublasStatus /*status*/) { return "set by the test"; }
  static CublasStatus property(CublasProperty which, int* value) {
    *value = which == CublasProperty::Major ? 13 : 1;
    return CublasStatus::Success;
  }

  template <class Status, class Handle>
  static Status make_handle(const char* name, Handle** handle) {
    return FakeLibraries::call<Status>(name, [&](FakeLibraries& fake) {
      require(current_gpu != nullptr, "no GPU is current");
      require_unrecorded(fake);
      const auto made = std::make_shared<Handle>();
      made->gpu = current_gpu;
      fake.handles_.emplace(static_cast<FakeHandle*>(made.get()), made);
      *handle = made.get();
    });
  }
  template <class Status, class Handle>
  static Status end_handle(const char* name, Handle* handle) {
    return FakeLibraries::call<Status>(name, [&](FakeLibraries& fake) {
      FakeCalls::handle(fake, handle);
      fake.handles_.erase(static_cast<FakeHandle*>(handle));
    });
  }
  template <class Status, class Handle>
  static Status choose_stream(const char* name, Handle* handle, void* stream) {
    return FakeLibraries::call<Status>(name, [&](FakeLibraries& fake) {
      FakeCalls::handle(fake, handle);
      handle->stream = static_cast<GpuStream*>(stream);
      handle->queue.reset();
      if (stream != nullptr) handle->queue = emulated::raw(*handle->stream).queue();
      handle->workspace = nullptr;
      handle->workspace_bytes = 0;
    });
  }

  static CudnnStatus create(CudnnContext** h) { return make_handle<CudnnStatus>("cudnnCreate", h); }
  static CudnnStatus destroy(CudnnContext* h) { return end_handle<CudnnStatus>("cudnnDestroy", h); }
  static CudnnStatus set_stream(CudnnContext* h, void* stream) {
    return choose_stream<CudnnStatus>("cudnnSetStream", h, stream);
  }
  static CublasStatus create_blas(CublasContext** h) {
    return make_handle<CublasStatus>("cublasCreate", h);
  }
  static CublasStatus destroy_blas(CublasContext* h) {
    return end_handle<CublasStatus>("cublasDestroy", h);
  }
  static CublasStatus set_blas_stream(CublasContext* h, void* stream) {
    return choose_stream<CublasStatus>("cublasSetStream", h, stream);
  }

  // ---- Descriptors

  template <class T>
  static CudnnStatus make(T** one) {
    return FakeLibraries::call<CudnnStatus>("create descriptor", [&](FakeLibraries& fake) {
      require_unrecorded(fake);
      auto made = std::make_unique<T>();
      fake.descriptors_.insert(made.get());
      *one = made.release();
    });
  }
  template <class T>
  static CudnnStatus end(T* one) {
    return FakeLibraries::call<CudnnStatus>("destroy descriptor", [&](FakeLibraries& fake) {
      require(fake.descriptors_.erase(one) == 1, "not a live descriptor");
      const std::unique_ptr<T> ended(one);
    });
  }
  template <class T, class Values>
  static CudnnStatus set(T* one, const Values& values) {
    return FakeLibraries::call<CudnnStatus>("set descriptor", [&](FakeLibraries& fake) {
      require(fake.descriptors_.contains(one), "not a live descriptor");
      require_unrecorded(fake);
      values();
      one->set = true;
    });
  }
  static CudnnStatus set_tensor(CudnnTensor* t, CudnnFormat format, CudnnData type, int n, int c,
                                int h, int w) {
    return set(t, [&] {
      require(format == CudnnFormat::Nhwc && type == CudnnData::Float, "not FP32 in NHWC");
      require(std::min({n, c, h, w}) > 0, "an empty tensor");
      *t = {false, n, c, h, w};
    });
  }
  static CudnnStatus set_filter(CudnnFilter* f, CudnnData type, CudnnFormat format, int k, int c,
                                int h, int w) {
    return set(f, [&] {
      require(format == CudnnFormat::Nhwc && type == CudnnData::Float, "not FP32 in NHWC");
      *f = {false, k, c, h, w};
    });
  }
  static CudnnStatus set_convolution(CudnnConvolution* c, int pad_h, int pad_w, int stride_h,
                                     int stride_w, int dilation_h, int dilation_w,
                                     CudnnConvolutionMode mode, CudnnData compute) {
    return set(c, [&] {
      require(pad_h == pad_w && stride_h == stride_w && dilation_h == 1 && dilation_w == 1,
              "not a convolution of the lab");
      require(mode == CudnnConvolutionMode::CrossCorrelation && compute == CudnnData::Float,
              "not a cross-correlation in FP32");
      c->padding = pad_h;
      c->stride = stride_h;
    });
  }
  static CudnnStatus set_math(CudnnConvolution* c, CudnnMath math) {
    return set(c, [&] {
      require(c->set, "the descriptor is not set");
      c->math = math;
    });
  }
  static CudnnStatus set_activation(CudnnActivation* a, CudnnActivationMode mode, CudnnNan nan,
                                    double /*coefficient*/) {
    return set(a, [&] {
      require(nan == CudnnNan::Propagate, "NaN would be hidden");
      a->mode = mode;
    });
  }
  static CudnnStatus set_pooling(CudnnPooling* p, CudnnPoolingMode mode, CudnnNan /*nan*/,
                                 int window_h, int window_w, int pad_h, int pad_w, int stride_h,
                                 int stride_w) {
    return set(p, [&] {
      require(mode == CudnnPoolingMode::AverageCountIncludePadding && pad_h == 0 && pad_w == 0 &&
                  stride_h == stride_w,
              "not a pooling of the lab");
      *p = {false, window_h, window_w, stride_h};
    });
  }

  // ---- Convolutions

  static FakeConvolution shape_of(const FakeLibraries& fake, const CudnnTensor* x,
                                  const CudnnFilter* w, const CudnnConvolution* conv,
                                  const CudnnTensor* y) {
    const CudnnTensor &in = descriptor(fake, x), &out = descriptor(fake, y);
    const CudnnFilter& filter = descriptor(fake, w);
    const CudnnConvolution& c = descriptor(fake, conv);
    const auto side = [&](std::int64_t size) {
      return (size + 2 * c.padding - filter.h) / c.stride + 1;
    };
    require(filter.h == filter.w && in.n == out.n && in.c == filter.c && out.c == filter.k &&
                out.h == side(in.h) && out.w == side(in.w),
            "the sizes do not fit each other");
    return {in.n,
            in.h,
            in.w,
            in.c,
            out.h,
            out.w,
            out.c,
            filter.h,
            c.padding,
            c.stride,
            c.math != CudnnMath::Fma,
            {}};
  }

  static std::int64_t workspace_of(std::int64_t images, int algorithm) {
    if (algorithm == 3) return images * FakeLibraries::kWorkspace_bytes;
    return algorithm == 1 ? images * FakeLibraries::kSmallWorkspace_bytes : 0;
  }

  // Only the last four are usable.
  static CudnnStatus offer(const char* name, const CudnnTensor* x, const CudnnFilter* w,
                           const CudnnConvolution* conv, const CudnnTensor* y, CudnnContext* h,
                           int asked, int* found, CudnnAlgorithm* results) {
    return FakeLibraries::call<CudnnStatus>(name, [&](FakeLibraries& fake) {
      handle(fake, h);
      require_unrecorded(fake);
      const std::int64_t images = shape_of(fake, x, w, conv, y).n;
      const CudnnMath math = conv->math;
      constexpr auto kNot = CudnnDeterminism::NonDeterministic;
      constexpr auto kYes = CudnnDeterminism::Deterministic;
      constexpr auto kGood = CudnnStatus::Success;
      const std::array offers = {
          CudnnAlgorithm{6, static_cast<CudnnStatus>(3000), -1, 0, kYes, math},
          CudnnAlgorithm{5, kGood, 1, 0, kNot, math},
          CudnnAlgorithm{4, kGood, 2, 0, kYes, CudnnMath::TensorOpAllowConversion},
          CudnnAlgorithm{3, kGood, 3, static_cast<std::size_t>(workspace_of(images, 3)), kYes,
                         math},
          CudnnAlgorithm{2, kGood, 4, 0, kYes, CudnnMath::TensorOp},
          CudnnAlgorithm{1, kGood, 5, static_cast<std::size_t>(workspace_of(images, 1)), kYes,
                         math},
          CudnnAlgorithm{0, kGood, 6, 0, kYes, math}};
      *found = std::min(asked, static_cast<int>(offers.size()));
      std::copy_n(offers.begin(), *found, results);
    });
  }
  static CudnnStatus need(const char* name, const CudnnTensor* x, const CudnnFilter* w,
                          const CudnnConvolution* conv, const CudnnTensor* y, CudnnContext* h,
                          int algorithm, std::size_t* bytes) {
    return FakeLibraries::call<CudnnStatus>(name, [&](FakeLibraries& fake) {
      handle(fake, h);
      *bytes = static_cast<std::size_t>(workspace_of(shape_of(fake, x, w, conv, y).n, algorithm));
    });
  }
  // Offered, deterministic and in the mode in which it was offered: without rounding, only number 2
  // may use tensor cores.
  static void require_offered(FakeLibraries& fake, const CudnnConvolution& conv, int algorithm) {
    require(algorithm >= 0 && algorithm <= 3, "the algorithm was not offered as deterministic");
    require((algorithm == 2) == (conv.math == CudnnMath::TensorOp),
            "not the algorithm's mode of computation");
    fake.algorithms_.insert(algorithm);
  }

  static CudnnStatus forward_algorithms(CudnnContext* h, const CudnnTensor* x, const CudnnFilter* w,
                                        const CudnnConvolution* conv, const CudnnTensor* y, int n,
                                        int* found, CudnnAlgorithm* results) {
    return offer("cudnnGetConvolutionForwardAlgorithm_v7", x, w, conv, y, h, n, found, results);
  }
  static CudnnStatus data_algorithms(CudnnContext* h, const CudnnFilter* w, const CudnnTensor* dy,
                                     const CudnnConvolution* conv, const CudnnTensor* dx, int n,
                                     int* found, CudnnAlgorithm* results) {
    return offer("cudnnGetConvolutionBackwardDataAlgorithm_v7", dx, w, conv, dy, h, n, found,
                 results);
  }
  static CudnnStatus filter_algorithms(CudnnContext* h, const CudnnTensor* x, const CudnnTensor* dy,
                                       const CudnnConvolution* conv, const CudnnFilter* dw, int n,
                                       int* found, CudnnAlgorithm* results) {
    return offer("cudnnGetConvolutionBackwardFilterAlgorithm_v7", x, dw, conv, dy, h, n, found,
                 results);
  }
  static CudnnStatus forward_workspace(CudnnContext* h, const CudnnTensor* x, const CudnnFilter* w,
                                       const CudnnConvolution* conv, const CudnnTensor* y,
                                       int algorithm, std::size_t* bytes) {
    return need("cudnnGetConvolutionForwardWorkspaceSize", x, w, conv, y, h, algorithm, bytes);
  }
  static CudnnStatus data_workspace(CudnnContext* h, const CudnnFilter* w, const CudnnTensor* dy,
                                    const CudnnConvolution* conv, const CudnnTensor* dx,
                                    int algorithm, std::size_t* bytes) {
    return need("cudnnGetConvolutionBackwardDataWorkspaceSize", dx, w, conv, dy, h, algorithm,
                bytes);
  }
  static CudnnStatus filter_workspace(CudnnContext* h, const CudnnTensor* x, const CudnnTensor* dy,
                                      const CudnnConvolution* conv, const CudnnFilter* dw,
                                      int algorithm, std::size_t* bytes) {
    return need("cudnnGetConvolutionBackwardFilterWorkspaceSize", x, dw, conv, dy, h, algorithm,
                bytes);
  }

  static float* floats(void* array) { return static_cast<float*>(array); }
  static const float* floats(const void* array) { return static_cast<const float*>(array); }

  static CudnnStatus forward(CudnnContext* h, const void* alpha, const CudnnTensor* x_shape,
                             const void* x, const CudnnFilter* w_shape, const void* w,
                             const CudnnConvolution* conv, int algorithm, void* workspace,
                             std::size_t bytes, const void* beta, const CudnnTensor* y_shape,
                             void* y) {
    constexpr const char* kName = "cudnnConvolutionForward";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakeConvolution s = shape_of(fake, x_shape, w_shape, conv, y_shape);
      require_offered(fake, *conv, algorithm);
      s.blend = work.blend(alpha, beta);
      work.use(x, *x_shape);
      work.use(w, 4 * w_shape->count());
      work.write(y, *y_shape);
      work.workspace(workspace, bytes, workspace_of(s.n, algorithm));
      work.queue([=] { convolve(s, floats(x), floats(w), floats(y)); });
    });
  }
  static CudnnStatus backward_data(CudnnContext* h, const void* alpha, const CudnnFilter* w_shape,
                                   const void* w, const CudnnTensor* dy_shape, const void* dy,
                                   const CudnnConvolution* conv, int algorithm, void* workspace,
                                   std::size_t bytes, const void* beta, const CudnnTensor* dx_shape,
                                   void* dx) {
    constexpr const char* kName = "cudnnConvolutionBackwardData";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakeConvolution s = shape_of(fake, dx_shape, w_shape, conv, dy_shape);
      require_offered(fake, *conv, algorithm);
      s.blend = work.blend(alpha, beta);
      work.use(w, 4 * w_shape->count());
      work.use(dy, *dy_shape);
      work.write(dx, *dx_shape);
      work.workspace(workspace, bytes, workspace_of(s.n, algorithm));
      work.queue([=] { convolve_data(s, floats(w), floats(dy), floats(dx)); });
    });
  }
  static CudnnStatus backward_filter(CudnnContext* h, const void* alpha, const CudnnTensor* x_shape,
                                     const void* x, const CudnnTensor* dy_shape, const void* dy,
                                     const CudnnConvolution* conv, int algorithm, void* workspace,
                                     std::size_t bytes, const void* beta,
                                     const CudnnFilter* dw_shape, void* dw) {
    constexpr const char* kName = "cudnnConvolutionBackwardFilter";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakeConvolution s = shape_of(fake, x_shape, dw_shape, conv, dy_shape);
      require_offered(fake, *conv, algorithm);
      s.blend = work.blend(alpha, beta);
      work.use(x, *x_shape);
      work.use(dy, *dy_shape);
      work.write(dw, 4 * dw_shape->count());
      work.workspace(workspace, bytes, workspace_of(s.n, algorithm));
      work.queue([=] { convolve_filter(s, floats(x), floats(dy), floats(dw)); });
    });
  }
  static CudnnStatus backward_bias(CudnnContext* h, const void* alpha, const CudnnTensor* dy_shape,
                                   const void* dy, const void* beta, const CudnnTensor* db_shape,
                                   void* db) {
    constexpr const char* kName = "cudnnConvolutionBackwardBias";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const CudnnTensor &from = descriptor(fake, dy_shape), &to = descriptor(fake, db_shape);
      require(to.c == from.c && to.count() == to.c, "not one value per channel");
      const Blend blend = work.blend(alpha, beta);
      work.use(dy, from);
      work.write(db, to);
      work.queue([=, channels = to.c, count = from.count()] {
        for (std::int64_t c = 0; c < channels; ++c) {
          double sum = 0;
          for (std::int64_t i = c; i < count; i += channels) sum += double{floats(dy)[i]};
          blend(sum, floats(db)[c]);
        }
      });
    });
  }
  static CudnnStatus add_tensor(CudnnContext* h, const void* alpha, const CudnnTensor* a_shape,
                                const void* a, const void* beta, const CudnnTensor* c_shape,
                                void* c) {
    constexpr const char* kName = "cudnnAddTensor";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const CudnnTensor &from = descriptor(fake, a_shape), &to = descriptor(fake, c_shape);
      const bool per_channel = from.count() == from.c && from.c == to.c;
      require(from == to || per_channel, "neither the same shape nor one value per channel");
      const Blend blend = work.blend(alpha, beta);
      work.use(a, from);
      work.write(c, to);
      work.queue([=, period = from.count(), count = to.count()] {
        for (std::int64_t i = 0; i < count; ++i) blend(floats(a)[i % period], floats(c)[i]);
      });
    });
  }

  // ---- Batch norm

  static FakeNorm norm_of(const FakeLibraries& fake, const CudnnTensor* x, const CudnnTensor* y,
                          const CudnnTensor* parameters, double epsilon, double momentum = 0) {
    const CudnnTensor& rows = descriptor(fake, x);
    const CudnnTensor& one = descriptor(fake, parameters);
    require(rows == descriptor(fake, y), "x and y differ in shape");
    require(one.count() == one.c && one.c == rows.c, "not one parameter per channel");
    require(epsilon > 0, "epsilon is not positive");
    return {rows.count() / rows.c, rows.c, epsilon, momentum};
  }
  static void require_plain(const Work& work, const void* alpha, const void* beta) {
    require(work.factor(alpha) == 1 && work.factor(beta) == 0, "factors other than 1 and 0");
  }

  static CudnnStatus norm_forward(CudnnContext* h, CudnnNormMode mode, const void* alpha,
                                  const void* beta, const CudnnTensor* x_shape, const void* x,
                                  const CudnnTensor* y_shape, void* y,
                                  const CudnnTensor* parameters, const void* scale,
                                  const void* bias, double momentum, void* running_mean,
                                  void* running_variance, double epsilon, void* mean,
                                  void* inverse_deviation) {
    constexpr const char* kName = "cudnnBatchNormalizationForwardTraining";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const FakeNorm s = norm_of(fake, x_shape, y_shape, parameters, epsilon, momentum);
      require(mode == CudnnNormMode::Spatial || mode == CudnnNormMode::SpatialPersistent, "mode");
      require(s.rows > 1, "the variance of one row");
      require_plain(work, alpha, beta);
      work.use(x, *x_shape);
      for (const void* one : {scale, bias}) work.use(one, *parameters);
      work.write(y, *y_shape);
      for (void* one : {running_mean, running_variance, mean, inverse_deviation}) {
        work.write(one, *parameters);
      }
      work.queue([=] {
        normalise(s, {floats(x), floats(scale), floats(bias), floats(y), floats(running_mean),
                      floats(running_variance), floats(mean), floats(inverse_deviation)});
      });
    });
  }
  static CudnnStatus norm_inference(CudnnContext* h, CudnnNormMode mode, const void* alpha,
                                    const void* beta, const CudnnTensor* x_shape, const void* x,
                                    const CudnnTensor* y_shape, void* y,
                                    const CudnnTensor* parameters, const void* scale,
                                    const void* bias, const void* mean, const void* variance,
                                    double epsilon) {
    constexpr const char* kName = "cudnnBatchNormalizationForwardInference";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const FakeNorm s = norm_of(fake, x_shape, y_shape, parameters, epsilon);
      require(mode == CudnnNormMode::Spatial, "mode");
      require(x_shape->n <= 65535, "more images than cuDNN's kernels take");
      require_plain(work, alpha, beta);
      work.use(x, *x_shape);
      for (const void* one : {scale, bias, mean, variance}) work.use(one, *parameters);
      work.write(y, *y_shape);
      work.queue([=] {
        normalise_inference(s, floats(x), floats(scale), floats(bias), floats(mean),
                            floats(variance), floats(y));
      });
    });
  }
  static CudnnStatus norm_backward(CudnnContext* h, CudnnNormMode mode, const void* alpha_data,
                                   const void* beta_data, const void* alpha_parameters,
                                   const void* beta_parameters, const CudnnTensor* x_shape,
                                   const void* x, const CudnnTensor* dy_shape, const void* dy,
                                   const CudnnTensor* dx_shape, void* dx,
                                   const CudnnTensor* parameters, const void* scale, void* dscale,
                                   void* dbias, double epsilon, const void* mean,
                                   const void* inverse_deviation) {
    constexpr const char* kName = "cudnnBatchNormalizationBackward";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const FakeNorm s = norm_of(fake, x_shape, dy_shape, parameters, epsilon);
      require(descriptor(fake, dx_shape) == *x_shape, "x and dx differ in shape");
      require(mode == CudnnNormMode::Spatial || mode == CudnnNormMode::SpatialPersistent, "mode");
      require_plain(work, alpha_data, beta_data);
      require_plain(work, alpha_parameters, beta_parameters);
      work.use(x, *x_shape);
      work.use(dy, *dy_shape);
      for (const void* one : {scale, mean, inverse_deviation}) work.use(one, *parameters);
      work.write(dx, *dx_shape);
      for (void* one : {dscale, dbias}) work.write(one, *parameters);
      work.queue([=] {
        normalise_backward(
            s, {floats(x), floats(dy), floats(scale), floats(mean), floats(inverse_deviation),
                floats(dx), floats(dscale), floats(dbias)});
      });
    });
  }

  // ---- Activations and pooling

  static CudnnStatus activation_forward(CudnnContext* h, CudnnActivation* activation,
                                        const void* alpha, const CudnnTensor* x_shape,
                                        const void* x, const void* beta, const CudnnTensor* y_shape,
                                        void* y) {
    constexpr const char* kName = "cudnnActivationForward";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const CudnnTensor& shape = descriptor(fake, x_shape);
      const CudnnActivationMode mode = descriptor(fake, activation).mode;
      require(shape == descriptor(fake, y_shape), "x and y differ in shape");
      require_plain(work, alpha, beta);
      work.use(x, shape);
      work.use(y, shape);
      work.queue([=, count = shape.count()] {
        for (std::int64_t i = 0; i < count; ++i) {
          const double value = floats(x)[i];
          const double relu = value < 0 ? 0 : value;  // NaN stays
          floats(y)[i] = static_cast<float>(
              mode == CudnnActivationMode::Relu ? relu : 1 / (1 + std::exp(-value)));
        }
      });
    });
  }
  static CudnnStatus activation_backward(CudnnContext* h, CudnnActivation* activation,
                                         const void* alpha, const CudnnTensor* y_shape,
                                         const void* y, const CudnnTensor* dy_shape, const void* dy,
                                         const CudnnTensor* x_shape, const void* x,
                                         const void* beta, const CudnnTensor* dx_shape, void* dx) {
    constexpr const char* kName = "cudnnActivationBackward";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      const CudnnTensor& shape = descriptor(fake, y_shape);
      const CudnnActivationMode mode = descriptor(fake, activation).mode;
      for (const CudnnTensor* other : {dy_shape, x_shape, dx_shape}) {
        require(shape == descriptor(fake, other), "the arrays differ in shape");
      }
      require_plain(work, alpha, beta);
      for (const void* one : {y, dy, x}) work.use(one, shape);
      work.use(dx, shape);
      work.queue([=, count = shape.count()] {
        for (std::int64_t i = 0; i < count; ++i) {
          const double out = floats(y)[i], gradient = floats(dy)[i];
          const double slope =
              mode == CudnnActivationMode::Relu ? (floats(x)[i] > 0 ? 1.0 : 0.0) : out * (1 - out);
          floats(dx)[i] = static_cast<float>(slope == 0 ? 0 : gradient * slope);
        }
      });
    });
  }

  static FakePool pool_of(const FakeLibraries& fake, const CudnnPooling* pooling,
                          const CudnnTensor* x, const CudnnTensor* y) {
    const CudnnPooling& p = descriptor(fake, pooling);
    const CudnnTensor &in = descriptor(fake, x), &out = descriptor(fake, y);
    require(in.n == out.n && in.c == out.c && out.h == (in.h - p.window_h) / p.stride + 1 &&
                out.w == (in.w - p.window_w) / p.stride + 1,
            "the sizes do not fit each other");
    return {in.n, in.h, in.w, in.c, out.h, out.w, p.window_h, p.window_w, p.stride, {}};
  }
  static CudnnStatus pooling_forward(CudnnContext* h, const CudnnPooling* pooling,
                                     const void* alpha, const CudnnTensor* x_shape, const void* x,
                                     const void* beta, const CudnnTensor* y_shape, void* y) {
    constexpr const char* kName = "cudnnPoolingForward";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakePool s = pool_of(fake, pooling, x_shape, y_shape);
      s.blend = work.blend(alpha, beta);
      work.use(x, *x_shape);
      work.write(y, *y_shape);
      work.queue([=] { average(s, floats(x), floats(y)); });
    });
  }
  // x and y of averages are not read, but must be arrays.
  static CudnnStatus pooling_backward(CudnnContext* h, const CudnnPooling* pooling,
                                      const void* alpha, const CudnnTensor* y_shape, const void* y,
                                      const CudnnTensor* dy_shape, const void* dy,
                                      const CudnnTensor* x_shape, const void* x, const void* beta,
                                      const CudnnTensor* dx_shape, void* dx) {
    constexpr const char* kName = "cudnnPoolingBackward";
    return FakeLibraries::call<CudnnStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakePool s = pool_of(fake, pooling, x_shape, y_shape);
      require(descriptor(fake, dy_shape) == *y_shape && descriptor(fake, dx_shape) == *x_shape,
              "the arrays differ in shape");
      s.blend = work.blend(alpha, beta);
      work.use(dy, *dy_shape);
      work.write(dx, *dx_shape);
      work.use(y, *y_shape);
      work.use(x, *x_shape);
      work.queue([=] { average_backward(s, floats(dy), floats(dx)); });
    });
  }

  // ---- cuBLAS

  static CublasStatus set_workspace(CublasContext* h, void* workspace, std::size_t bytes) {
    return FakeLibraries::call<CublasStatus>("cublasSetWorkspace", [&](FakeLibraries& fake) {
      handle(fake, h);
      require(reinterpret_cast<std::uintptr_t>(workspace) % kAlignment == 0,
              "the workspace is misaligned");
      h->workspace = workspace;
      h->workspace_bytes = bytes;
    });
  }
  static CublasStatus gemm(CublasContext* h, CublasOperation a_op, CublasOperation b_op, int m,
                           int n, int k, const void* alpha, const void* a, CublasData a_type,
                           int lda, const void* b, CublasData b_type, int ldb, const void* beta,
                           void* c, CublasData c_type, int ldc, CublasCompute compute,
                           CublasAlgorithm /*algorithm*/) {
    constexpr const char* kName = "cublasGemmEx";
    return FakeLibraries::call<CublasStatus>(kName, [&](FakeLibraries& fake) {
      Work work(kName, handle(fake, h));
      FakeGemm g{m,
                 n,
                 k,
                 lda,
                 ldb,
                 ldc,
                 a_op == CublasOperation::Transpose,
                 b_op == CublasOperation::Transpose,
                 compute == CublasCompute::FastTf32,
                 work.blend(alpha, beta)};
      require(std::min({m, n, k}) > 0, "an empty product");
      require(a_type == CublasData::Float && b_type == a_type && c_type == a_type, "not FP32");
      require(lda >= (g.a_transposed ? k : m) && ldb >= (g.b_transposed ? n : k) && ldc >= m,
              "a leading dimension is too small");
      const auto bytes = [](std::int64_t columns, std::int64_t ld) { return 4 * columns * ld; };
      work.use(a, bytes(g.a_transposed ? m : k, lda));
      work.use(b, bytes(g.b_transposed ? k : n, ldb));
      work.write(c, bytes(n, ldc));
      require(h->workspace != nullptr, "a workspace of the library's own");
      work.workspace(h->workspace, h->workspace_bytes,
                     static_cast<std::int64_t>(h->workspace_bytes));
      work.queue([=] { multiply(g, floats(a), floats(b), floats(c)); });
    });
  }
};

namespace {

class EmulatedHost final : public LibraryHost {
 public:
  explicit EmulatedHost(GpuDevice& gpu) : gpu_(gpu) {}
  void use() override {
    if (const std::string lost = gpu_.lost(); !lost.empty()) throw Error(Errc::DeviceLost, lost);
    current_gpu = &gpu_;
  }
  bool use_quietly() noexcept override {
    current_gpu = &gpu_;
    return gpu_.lost().empty();
  }
  void* native(GpuStream& stream) override { return &stream; }
  bool recorded(GpuStream& stream) override {
    return emulated::raw(stream).queue()->recording != nullptr;
  }
  [[noreturn]] void fail(const std::string& call, const std::string& why) override {
    throw gpu_failure(gpu_.facts().device, call, why);
  }

 private:
  GpuDevice& gpu_;
};

CudnnFunctions cudnn_functions() {
  using F = FakeCalls;
  CudnnFunctions f;
  f.get_version = F::version;
  f.get_error_string = F::text;
  f.create = F::create;
  f.destroy = F::destroy;
  f.set_stream = F::set_stream;
  f.create_tensor = F::make<CudnnTensor>;
  f.destroy_tensor = F::end<CudnnTensor>;
  f.set_tensor = F::set_tensor;
  f.create_filter = F::make<CudnnFilter>;
  f.destroy_filter = F::end<CudnnFilter>;
  f.set_filter = F::set_filter;
  f.create_convolution = F::make<CudnnConvolution>;
  f.destroy_convolution = F::end<CudnnConvolution>;
  f.set_convolution = F::set_convolution;
  f.set_math = F::set_math;
  f.create_activation = F::make<CudnnActivation>;
  f.destroy_activation = F::end<CudnnActivation>;
  f.set_activation = F::set_activation;
  f.create_pooling = F::make<CudnnPooling>;
  f.destroy_pooling = F::end<CudnnPooling>;
  f.set_pooling = F::set_pooling;
  f.forward_algorithms = F::forward_algorithms;
  f.forward_workspace = F::forward_workspace;
  f.data_algorithms = F::data_algorithms;
  f.data_workspace = F::data_workspace;
  f.filter_algorithms = F::filter_algorithms;
  f.filter_workspace = F::filter_workspace;
  f.forward = F::forward;
  f.backward_data = F::backward_data;
  f.backward_filter = F::backward_filter;
  f.backward_bias = F::backward_bias;
  f.add_tensor = F::add_tensor;
  f.norm_forward = F::norm_forward;
  f.norm_inference = F::norm_inference;
  f.norm_backward = F::norm_backward;
  f.activation_forward = F::activation_forward;
  f.activation_backward = F::activation_backward;
  f.pooling_forward = F::pooling_forward;
  f.pooling_backward = F::pooling_backward;
  return f;
}

}  // namespace

FakeLibraries::FakeLibraries() {
  EXPECT_EQ(current_libraries, nullptr);
  current_libraries = this;
}

FakeLibraries::~FakeLibraries() {
  current_libraries = nullptr;
}

LayerLibraries FakeLibraries::libraries() const {
  CublasFunctions blas;
  blas.get_property = FakeCalls::property;
  blas.get_status_string = FakeCalls::blas_text;
  blas.create = FakeCalls::create_blas;
  blas.destroy = FakeCalls::destroy_blas;
  blas.set_stream = FakeCalls::set_blas_stream;
  blas.set_workspace = FakeCalls::set_workspace;
  blas.gemm = FakeCalls::gemm;
  return {cudnn_functions(), blas, "cuDNN 9.19.0, cuBLAS 13.1"};
}

std::unique_ptr<LibraryHost> FakeLibraries::host(GpuDevice& gpu) const {
  return std::make_unique<EmulatedHost>(gpu);
}

std::function<std::unique_ptr<GpuLayers>(GpuDevice&, GpuLayers&)> FakeLibraries::maker(
    std::int64_t workspace_limit_bytes) const {
  return [this, workspace_limit_bytes](GpuDevice& gpu, GpuLayers& own) {
    return std::make_unique<LibraryLayers>(libraries(), host(gpu), own, workspace_limit_bytes);
  };
}

std::vector<std::string> FakeLibraries::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

int FakeLibraries::live_handles() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(handles_.size());
}

int FakeLibraries::live_descriptors() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(descriptors_.size());
}

int FakeLibraries::calls(const std::string& function) const {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(function);
  return found == calls_.end() ? 0 : found->second;
}

std::set<int> FakeLibraries::algorithms() const {
  const std::lock_guard lock(mutex_);
  return algorithms_;
}

void FakeLibraries::fail(const std::string& function, int status) {
  const std::lock_guard lock(mutex_);
  failing_ = function;
  failing_status_ = status;
}

}  // namespace lab::test
