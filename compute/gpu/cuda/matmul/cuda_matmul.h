#pragma once
// GpuMatmul for a CUDA GPU: the lab's own rungs and the libraries.
#include <array>
#include <mutex>
#include <vector>

#include "compute/gpu/cuda/device/cuda_context.h"
#include "compute/gpu/cuda/matmul/ladder.h"
#include "compute/gpu/cuda/matmul/libraries/cublas.h"
#include "compute/gpu/cuda/matmul/libraries/cublaslt.h"

namespace lab::cuda {

class CudaMatmul final : public GpuMatmul {
 public:
  // Both arguments must outlive this object.
  CudaMatmul(const CudaContext& gpu, const GpuProperties& facts);

  std::span<const RungInfo> rungs() const override { return cuda_rungs(); }
  std::optional<std::string> unsupported(const RungInfo& rung, const GpuProduct& product) override;
  void run(const RungInfo& rung, const GpuProduct& product, GpuStream& stream) override;
  std::optional<double> run_peak(Precision precision, std::int64_t rounds,
                                 GpuStream& stream) override;

  // GPU memory held as workspaces of the libraries. Callable from any thread.
  std::int64_t workspace_bytes() const noexcept {
    return cublas_.workspace_bytes() + cublaslt_.workspace_bytes();
  }

 private:
  void run_own(const CudaRung& rung, const GpuProduct& product, GpuStream& stream);

  const CudaContext& gpu_;
  const GpuProperties& facts_;
  Cublas cublas_;
  CublasLt cublaslt_;
  // Kernels are loaded once per GPU, by the first thread that needs them.
  std::vector<std::once_flag> loaded_ = std::vector<std::once_flag>(cuda_ladder().size());
  std::array<std::once_flag, 3> peak_loaded_;  // by Precision
};

}  // namespace lab::cuda
