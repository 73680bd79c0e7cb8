#include "tests/support/fake_layer_libraries/fake_libraries.h"

#include <gtest/gtest.h>

#include "compute/gpu/library/library_layers.h"
#include "tests/support/fake_layer_libraries/fake_calls.h"

namespace lab::test {

FakeLibraries* current_libraries = nullptr;
thread_local GpuDevice* current_gpu = nullptr;

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

}  // namespace

FakeLibraries::FakeLibraries() {
  EXPECT_EQ(current_libraries, nullptr);
  current_libraries = this;
}

FakeLibraries::~FakeLibraries() {
  current_libraries = nullptr;
}

LayerLibraries FakeLibraries::libraries() const {
  LayerLibraries libraries;
  add_handles(libraries.cudnn, libraries.cublas);
  add_descriptors(libraries.cudnn);
  add_convolutions(libraries.cudnn);
  add_norms(libraries.cudnn);
  add_activations(libraries.cudnn);
  libraries.versions = "cuDNN 9.19.0, cuBLAS 13.1";
  return libraries;
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
