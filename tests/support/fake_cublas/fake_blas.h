#pragma once
// Controls and records of a fake cuBLAS or cublasLt: fake_blas(), looked up with dlsym.
#include <array>
#include <cstddef>
#include <cstdint>

namespace lab::test {

// A product that the library executed.
struct FakeProduct {
  int compute = 0, operands = 0;  // cublasComputeType_t, cudaDataType
  void* stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

struct FakeBlas {
  // Set by the test. The function of this name returns `status`; null: no function fails.
  const char* failing = nullptr;
  int status = 0;
  int algorithms = 1;       // number the heuristic returns
  int algorithm_state = 0;  // status of each of them

  // Read by the test.
  int handles = 0, descriptors = 0;              // created and not destroyed
  int questions = 0, products = 0;               // heuristic and product calls
  std::array<std::uint32_t, 4> alignments = {};  // of A, B, C, D in the last heuristic call
  std::uint64_t workspace_limit = 0;             // in the last heuristic call
  FakeProduct last;
};

using FakeBlasFunction = FakeBlas* (*)();
inline constexpr const char* kFakeBlasName = "fake_blas";
// The fake's description of every status.
inline constexpr const char* kFakeStatusText = "set by the test";

}  // namespace lab::test
