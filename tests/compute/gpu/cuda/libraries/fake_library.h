#pragma once
// Replaces the CUDA libraries in tests: configurable fakes of cuBLAS and cublasLt, and a GPU backed
// by host memory.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>

#include "compute/gpu/cuda/matmul/libraries/cublas.h"
#include "compute/gpu/cuda/matmul/libraries/cublaslt.h"
#include "compute/gpu/cuda/matmul/libraries/library_gpu.h"
#include "tests/support/fake_cublas/fake_blas.h"

namespace lab::test {

// Names that the tests expect of a library. Library: Cublas or CublasLt.
template <class Library>
struct Names {
  static constexpr bool kLt = std::is_same_v<Library, cuda::CublasLt>;
  static constexpr const char* kTitle = kLt ? "cublasLt" : "cuBLAS";
  static constexpr const char* kFile = kLt ? "libcublasLt.so" : "libcublas.so";
  static constexpr const char* kCreate = kLt ? "cublasLtCreate" : "cublasCreate";
  static constexpr const char* kMultiply = kLt ? "cublasLtMatmul" : "cublasGemmEx";
  static constexpr const char* kWords = kLt ? "cublasLtGetStatusString" : "cublasGetStatusString";
};

// Folder of all fakes, with a trailing slash.
const char* fake_folder();

// `kind` is a folder built by tests/support/fake_cublas: "new", "twelve", "old", "future" or
// "partial".
template <class Library>
std::string fake_path(const std::string& kind) {
  std::string path = fake_folder();
  path += kind;
  path += '/';
  path += Names<Library>::kFile;
  return path;
}

// Returns the reset state of the fake at `path`. A library stays loaded between tests.
FakeBlas& fresh_fake(const std::string& path);

// Behavior of a HostGpu, and a record of its calls. Must outlive the HostGpu.
struct HostGpuState {
  bool full = false;  // allocations fail
  bool lost = false;

  int waits = 0, clears = 0;
  std::map<void*, std::unique_ptr<std::byte[]>> memory;  // not yet released
};

class HostGpu final : public cuda::LibraryGpu {
 public:
  explicit HostGpu(HostGpuState& state) : state_(state) {}
  void use() override;
  bool use_quietly() noexcept override { return !state_.lost; }
  void* allocate(std::int64_t bytes) override;
  void release(void* memory) noexcept override { state_.memory.erase(memory); }
  unsigned long long id_of(cudaStream_t stream) override {
    return reinterpret_cast<std::uintptr_t>(stream);
  }
  void clear(const GpuProduct& product, cudaStream_t stream) override;
  void wait() override { ++state_.waits; }
  [[noreturn]] void fail(const std::string& call, const std::string& why) override;

 private:
  HostGpuState& state_;
};

}  // namespace lab::test
