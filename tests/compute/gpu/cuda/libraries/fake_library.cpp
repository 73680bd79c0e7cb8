#include "tests/compute/gpu/cuda/libraries/fake_library.h"

#include <gtest/gtest.h>

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

}  // namespace lab::test
