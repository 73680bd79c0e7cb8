// A fake of cublasLt that multiplies on the CPU.
#include <cublasLt.h>

#include <algorithm>
#include <cstring>

#include "tests/support/fake_cublas/fake_blas_calls.h"

struct cublasLtContext {};

namespace {

using lab::test::answer;
using lab::test::end;
using lab::test::fake;
using lab::test::FakeBlas;
using lab::test::make;

// Indices of descriptor attributes.
enum OfOperation { kCompute, kScale };
enum OfLayout { kType, kRows, kColumns, kLd };
enum OfPreference { kWorkspace, kAlignments };  // kAlignments has four entries

bool fit(cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
         cublasLtMatrixLayout_t d) {
  return a->data[kRows] == c->data[kRows] && b->data[kColumns] == c->data[kColumns] &&
         a->data[kColumns] == b->data[kRows] && a->data[kType] == b->data[kType] &&
         c->data[kType] == CUDA_R_32F && std::equal(c->data, c->data + kLd + 1, d->data);
}

// Encodes the operation, the shape and the alignments that the algorithm is valid for.
cublasLtMatmulAlgo_t algorithm_for(cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
                                   cublasLtMatrixLayout_t c) {
  const auto& alignments = fake().alignments;
  return {{operation->data[kCompute], c->data[kRows], c->data[kColumns], a->data[kColumns],
           alignments[0], alignments[1], alignments[2], fake().workspace_limit}};
}

bool aligned(const void* address, std::uint64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

}  // namespace

extern "C" {

const char* cublasLtGetStatusString(cublasStatus_t) {
  return lab::test::kFakeStatusText;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return make(handle, &FakeBlas::handles, "cublasLtCreate");
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return end(handle, &FakeBlas::handles);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  const cublasStatus_t status = make(made, &FakeBlas::descriptors, "cublasLtMatmulDescCreate");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  (*made)->data[kCompute] = compute;
  (*made)->data[kScale] = scale;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t made) {
  return end(made, &FakeBlas::descriptors);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t ld) {
  const cublasStatus_t status = make(made, &FakeBlas::descriptors, "cublasLtMatrixLayoutCreate");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  (*made)->data[kType] = type;
  (*made)->data[kRows] = rows;
  (*made)->data[kColumns] = columns;
  (*made)->data[kLd] = static_cast<std::uint64_t>(ld);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t made) {
  return end(made, &FakeBlas::descriptors);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  return make(made, &FakeBlas::descriptors, "cublasLtMatmulPreferenceCreate");
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t made) {
  return end(made, &FakeBlas::descriptors);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  const bool workspace = attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
  const int alignment = attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  if (!workspace && (alignment < 0 || alignment > 3)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (bytes != (workspace ? sizeof(std::uint64_t) : sizeof(std::uint32_t)))
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&preference->data[workspace ? kWorkspace : kAlignments + alignment], value, bytes);
  return answer("cublasLtMatmulPreferenceSetAttribute");
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  ++fake().questions;
  const cublasStatus_t status = answer("cublasLtMatmulAlgoGetHeuristic");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (most < 1 || !fit(a, b, c, d) || operation->data[kScale] != CUDA_R_32F)
    return CUBLAS_STATUS_INVALID_VALUE;
  for (unsigned i = 0; i < 4; ++i)
    fake().alignments[i] = static_cast<std::uint32_t>(preference->data[kAlignments + i]);
  fake().workspace_limit = preference->data[kWorkspace];
  *found = std::min(most, fake().algorithms);
  for (int i = 0; i < *found; ++i) {
    results[i] = {};
    results[i].algo = algorithm_for(operation, a, c);
    results[i].workspaceSize = fake().workspace_limit;
    results[i].state = static_cast<cublasStatus_t>(fake().algorithm_state);
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t layout_a, const void* b,
                              cublasLtMatrixLayout_t layout_b, const void* beta, const void* c,
                              cublasLtMatrixLayout_t layout_c, void* d,
                              cublasLtMatrixLayout_t layout_d,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  const cublasStatus_t status = answer("cublasLtMatmul");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const auto& chosen = algorithm->data;
  const auto asked = algorithm_for(operation, layout_a, layout_c);
  if (!fit(layout_a, layout_b, layout_c, layout_d) || c != d ||
      !std::equal(chosen, chosen + 4, asked.data) || !aligned(a, chosen[4]) ||
      !aligned(b, chosen[5]) || !aligned(d, chosen[6]) || workspace_bytes < chosen[7])
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto size = [](cublasLtMatrixLayout_t layout, OfLayout what) {
    return static_cast<std::int64_t>(layout->data[what]);
  };
  return lab::test::multiply(
      {static_cast<int>(operation->data[kCompute]), static_cast<int>(layout_a->data[kType]), stream,
       workspace, workspace_bytes},
      {size(layout_c, kRows), size(layout_c, kColumns), size(layout_a, kColumns), a,
       size(layout_a, kLd), b, size(layout_b, kLd), static_cast<float*>(d), size(layout_d, kLd)},
      *static_cast<const float*>(alpha), *static_cast<const float*>(beta));
}

}  // extern "C"
