#pragma once
// What the functions of the fake libraries share: the opaque types, and the checks of handles,
// descriptors, arrays and streams.
#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>

#include "compute/gpu/emulator/device/handles.h"
#include "tests/support/fake_layer_libraries/fake_libraries.h"
#include "tests/support/fake_layer_libraries/fake_math.h"

namespace lab::test {

// Set by FakeLibraries and by the hosts' use().
extern FakeLibraries* current_libraries;
extern thread_local GpuDevice* current_gpu;

struct FakeHandle {
  GpuDevice* gpu = nullptr;
  GpuStream* stream = nullptr;                // null: the default stream, on which nothing may run
  std::weak_ptr<emulated::Queue> queue = {};  // of the stream: expires with it
  void* workspace = nullptr;                  // of cuBLAS
  std::size_t workspace_bytes = 0;
};

constexpr std::size_t kFakeAlignment_bytes = 256;

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

  template <class Status, class Body>
  static Status call(const char* function, const Body& body) {
    return FakeLibraries::call<Status>(function, body);
  }
  static auto& handles(FakeLibraries& fake) { return fake.handles_; }
  static const auto& handles(const FakeLibraries& fake) { return fake.handles_; }
  static auto& descriptors(FakeLibraries& fake) { return fake.descriptors_; }
  static const auto& descriptors(const FakeLibraries& fake) { return fake.descriptors_; }
  static std::set<int>& algorithms(FakeLibraries& fake) { return fake.algorithms_; }

  static float* floats(void* array) { return static_cast<float*>(array); }
  static const float* floats(const void* array) { return static_cast<const float*>(array); }

  // ---- Checks

  static void require(bool condition, const std::string& problem) {
    if (!condition) throw Misuse(problem);
  }

  static void require_unrecorded(const FakeLibraries& fake) {
    for (const auto& [one, owner] : handles(fake)) {
      const auto* handle = static_cast<const FakeHandle*>(one);
      const auto queue = handle->queue.lock();
      require(handle->gpu != current_gpu || !queue || !queue->recording,
              "not allowed while a stream of the GPU is recorded");
    }
  }

  template <class Handle>
  static const FakeHandle& handle(const FakeLibraries& fake, Handle* handle) {
    require(handles(fake).contains(static_cast<FakeHandle*>(handle)), "not a live handle");
    require(handle->gpu == current_gpu, "the handle belongs to another GPU");
    return *handle;
  }

  template <class T>
  static const T& descriptor(const FakeLibraries& fake, const T* one) {
    require(descriptors(fake).contains(one), "not a live descriptor");
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
      require(reinterpret_cast<std::uintptr_t>(memory) % kFakeAlignment_bytes == 0,
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
      stream().push({name_, [=, this_work = *this, body = std::move(body),
                             &core](const emulated::Interruption&) {
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

  static void require_plain(const Work& work, const void* alpha, const void* beta) {
    require(work.factor(alpha) == 1 && work.factor(beta) == 0, "factors other than 1 and 0");
  }
};

// Each adds its functions.
void add_handles(CudnnFunctions& cudnn, CublasFunctions& cublas);
void add_descriptors(CudnnFunctions& cudnn);
void add_convolutions(CudnnFunctions& cudnn);
void add_norms(CudnnFunctions& cudnn);
void add_activations(CudnnFunctions& cudnn);

}  // namespace lab::test
