#include "compute/gpu/cuda/matmul/tensor_map.h"

#include <cudaTypedefs.h>

namespace lab::cuda_matmul {
namespace {

constexpr unsigned kVersion = 12000;  // of CUDA, whose signature this is
constexpr cuuint32_t kBoxColumns = 64;

// Null where the driver has none. The driver is not linked: a machine may have none.
PFN_cuTensorMapEncodeTiled_v12000 encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const auto status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, kVersion,
                                                       cudaEnableDefault, &result);
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
}

}  // namespace

cudaError_t make_tensor_map(CUtensorMap& map, const Bf16Matrix& matrix, int box_rows) {
  static const auto kEncode = encoder();
  if (kEncode == nullptr) return cudaErrorNotSupported;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(matrix.cols),
                              static_cast<cuuint64_t>(matrix.rows)};
  const cuuint64_t row_bytes[] = {static_cast<cuuint64_t>(matrix.ld) * sizeof(std::uint16_t)};
  const cuuint32_t box[] = {kBoxColumns, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t every[] = {1, 1};
  // The driver takes the address as mutable; the kernels only read through the map.
  void* const data = const_cast<std::uint16_t*>(matrix.data);
  const CUresult result =
      kEncode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, row_bytes, box, every,
              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
              CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace lab::cuda_matmul
