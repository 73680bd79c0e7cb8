#pragma once
// What tests can tell and ask a fake of cuBLAS or cublasLt: fake_blas(), found by dlsym.
#include <array>
#include <cstddef>
#include <cstdint>

namespace lab::test {

// A product that reached the library.
struct FakeProduct {
  int compute = 0, factors = 0;  // cublasComputeType_t, cudaDataType
  void* stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

struct FakeBlas {
  // For the test to set. The function of this name answers `status`; null: none fails.
  const char* failing = nullptr;
  int status = 0;
  int algorithms = 1;       // that the heuristics find
  int algorithm_state = 0;  // the status that they give for each

  // For the test to read.
  int handles = 0, descriptors = 0;              // made and not destroyed
  int questions = 0, products = 0;               // that came
  std::array<std::uint32_t, 4> alignments = {};  // of A, B, C, D in the last question
  std::uint64_t workspace_limit = 0;             // in the last question
  FakeProduct last;
};

using FakeBlasFunction = FakeBlas* (*)();
inline constexpr const char* kFakeBlasName = "fake_blas";
// What the fake says of every status.
inline constexpr const char* kFakeWords = "as the test asked";

}  // namespace lab::test
