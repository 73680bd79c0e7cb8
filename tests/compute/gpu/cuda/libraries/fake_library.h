#pragma once
// One of the fakes of cuBLAS and cublasLt in a test, with its knobs.
#include <string>
#include <type_traits>

#include "compute/gpu/cuda/matmul/cublas.h"
#include "compute/gpu/cuda/matmul/cublaslt.h"
#include "tests/support/fake_cublas/fake_blas.h"

namespace lab::test {

// How the tests name the parts of a library. Library: Cublas or CublasLt.
template <class Library>
struct Names {
  static constexpr bool kLt = std::is_same_v<Library, cuda::CublasLt>;
  static constexpr const char* kTitle = kLt ? "cublasLt" : "cuBLAS";
  static constexpr const char* kFile = kLt ? "libcublasLt.so" : "libcublas.so";
  static constexpr const char* kCreate = kLt ? "cublasLtCreate" : "cublasCreate";
  static constexpr const char* kMultiply = kLt ? "cublasLtMatmul" : "cublasGemmEx";
  static constexpr const char* kWords = kLt ? "cublasLtGetStatusString" : "cublasGetStatusString";
};

// Of all fakes, with a slash at its end.
const char* fake_folder();

// Kinds are the folders that tests/support/fake_cublas builds: "new", "twelve", "old", "future",
// "partial".
template <class Library>
std::string fake_path(const std::string& kind) {
  std::string path = fake_folder();
  path += kind;
  path += '/';
  path += Names<Library>::kFile;
  return path;
}

// The state of the fake at `path`, as new: a library stays loaded from test to test.
FakeBlas& fresh_fake(const std::string& path);

}  // namespace lab::test
