#pragma once
// Functions of the driver that no library of the CUDA Toolkit offers. The driver is not linked,
// because a machine may have none.
#include <cuda_runtime.h>

namespace lab::cuda {

// `Function` is a type of cudaTypedefs.h, of the CUDA version `version` (12000: 12.0). Null if the
// driver lacks the function.
template <class Function>
Function driver_function(const char* name, unsigned version) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const auto status =
      cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result);
#else  // returns the newest form of the function that this runtime knows
  static_cast<void>(version);
  const auto status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Function>(found);
}

}  // namespace lab::cuda
