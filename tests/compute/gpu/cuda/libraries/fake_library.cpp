#include "tests/compute/gpu/cuda/libraries/fake_library.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compute/core/error.h"
#include "compute/gpu/dynamic_library.h"

namespace lab::test {

const char* fake_folder() {
  return LAB_FAKE_CUBLAS "/";
}

FakeBlas& fresh_fake(const std::string& path) {
  static FakeBlas nothing;
  const auto library = DynamicLibrary::open({path});
  const auto state = library ? library->function<FakeBlasFunction>(kFakeBlasName) : nullptr;
  EXPECT_NE(state, nullptr) << path << ": " << library.reason();
  FakeBlas& fake = state != nullptr ? *state() : nothing;
  fake = {};
  return fake;
}

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
