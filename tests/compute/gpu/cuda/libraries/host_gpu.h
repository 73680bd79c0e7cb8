#pragma once
// A GPU whose memory is the host's, for the libraries' fakes.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "compute/gpu/cuda/matmul/library_gpu.h"

namespace lab::test {

// What the GPU does, and what was asked of it; outlives it.
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
