#include "tests/support/fake_nvml/fake_library.h"

#include <gtest/gtest.h>

namespace lab::test {

FakeNvml::FakeNvml(const std::string& kind)
    : path_(std::string(LAB_FAKE_NVML) + "/" + kind + "/libnvidia-ml.so.1"),
      library_(dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
  EXPECT_NE(library_, nullptr) << path_;
  set_processes(2, 0);
  slow(0, false);
  divide(false);
  share(false);
  rest(false);
  for (int gpu = 0; gpu < 2; ++gpu) fail(gpu, 0);
}

}  // namespace lab::test
