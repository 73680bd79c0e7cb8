#include "tests/compute/gpu/cuda/libraries/host_gpu.h"

#include <algorithm>

#include "compute/core/error.h"

namespace lab::test {

void HostGpu::use() {
  if (state_.lost) throw Error(Errc::DeviceLost, "cuda:0 is lost");
}

void* HostGpu::allocate(std::int64_t bytes) {
  if (state_.full) throw Error(Errc::OutOfMemory, std::to_string(bytes) + " bytes");
  auto memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  void* const address = memory.get();
  state_.memory[address] = std::move(memory);
  return address;
}

void HostGpu::clear(const GpuProduct& product, cudaStream_t) {
  ++state_.clears;
  for (std::int64_t row = 0; row < product.m; ++row)
    std::fill_n(product.c + row * product.ldc, product.n, 0.0F);
}

void HostGpu::fail(const std::string& call, const std::string& why) {
  throw Error(state_.lost ? Errc::DeviceLost : Errc::Cuda, call + " failed: " + why);
}

}  // namespace lab::test
