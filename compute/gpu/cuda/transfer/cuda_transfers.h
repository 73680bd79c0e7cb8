#pragma once
// GpuTransfers for a CUDA GPU.
#include "compute/gpu/cuda/device/cuda_context.h"
#include "compute/gpu/gpu_backend.h"
#include "compute/gpu/gpu_transfers.h"

namespace lab::cuda {

class CudaTransfers final : public GpuTransfers {
 public:
  // `gpu` must outlive it.
  CudaTransfers(const CudaContext& gpu, int multiprocessors);

  std::unique_ptr<GpuGate> make_gate() override;
  void copy_by_kernel(std::uint32_t* to, const std::uint32_t* from, std::int64_t words, int sharers,
                      GpuStream& stream) override;
  void fill_pattern(std::uint32_t* to, std::int64_t words, std::uint32_t seed,
                    GpuStream& stream) override;
  void count_mismatches(const std::uint32_t* at, std::int64_t words, std::uint32_t seed,
                        std::uint64_t* count, GpuStream& stream) override;
  void chase(const std::uint32_t* next, std::uint32_t* position, std::int64_t hops,
             GpuStream& stream) override;
  void work(std::int64_t rounds, float* sink, GpuStream& stream) override;
  std::int64_t work_words() const override;

 private:
  int blocks_for(std::int64_t pieces, int on_each) const;

  const CudaContext& gpu_;
  const int multiprocessors_;
};

}  // namespace lab::cuda
