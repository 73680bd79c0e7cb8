#include "compute/gpu/library/layer_libraries.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/errors.h"

namespace lab::library {
namespace {

const std::string kFakes = LAB_FAKE_LAYER_LIBRARIES;

LibraryFiles fakes(const std::string& cudnn, const std::string& cublas) {
  return {{kFakes + "/libstand_in_cudnn_" + cudnn + ".so"},
          {kFakes + "/libstand_in_cublas_" + cublas + ".so"}};
}

std::string refusal_of(const LibraryFiles& files) {
  return test::message_of([&] { open_layer_libraries(files); }, Errc::Unsupported);
}

TEST(LayerLibraries, FindsEveryFunctionAndTheVersions) {
  const LayerLibraries libraries = open_layer_libraries(fakes("complete", "complete"));
  EXPECT_EQ(libraries.versions, "cuDNN 9.12.3, cuBLAS 12.9");
  for_each_cudnn_function(
      [&](const char* name, auto member) { EXPECT_NE(libraries.cudnn.*member, nullptr) << name; });
  for_each_cublas_function(
      [&](const char* name, auto member) { EXPECT_NE(libraries.cublas.*member, nullptr) << name; });
}

TEST(LayerLibraries, NamesAMissingLibrary) {
  EXPECT_EQ(
      refusal_of({{"/none/libcudnn.so.9", "/none/libcudnn.so"}, {}}),
      "cuDNN cannot be opened: /none/libcudnn.so.9 (cannot open shared object file: No such "
      "file or directory), /none/libcudnn.so (cannot open shared object file: No such file or "
      "directory); install it, add its folder to LD_LIBRARY_PATH, or choose --kernels lab");
  LibraryFiles files = fakes("complete", "complete");
  files.cublas = {"/none/libcublas.so"};
  EXPECT_EQ(refusal_of(files).rfind("cuBLAS cannot be opened: /none/libcublas.so", 0), 0U);
}

TEST(LayerLibraries, NamesAMissingFunction) {
  EXPECT_EQ(refusal_of(fakes("partial", "complete")),
            kFakes +
                "/libstand_in_cudnn_partial.so has no function cudnnPoolingBackward; install "
                "another version of cuDNN, or choose --kernels lab");
  EXPECT_EQ(refusal_of(fakes("complete", "partial")),
            kFakes +
                "/libstand_in_cublas_partial.so has no function cublasGemmEx; install another "
                "version of cuBLAS, or choose --kernels lab");
}

TEST(LayerLibraries, RefusesOtherVersions) {
  EXPECT_EQ(refusal_of(fakes("old", "complete")),
            kFakes +
                "/libstand_in_cudnn_old.so is cuDNN 8; the lab works with 9: install it, or choose "
                "--kernels lab");
  EXPECT_EQ(refusal_of(fakes("complete", "old")),
            kFakes +
                "/libstand_in_cublas_old.so is cuBLAS 11; the lab works with 12, 13: install it, "
                "or choose --kernels lab");
}

}  // namespace
}  // namespace lab::library
