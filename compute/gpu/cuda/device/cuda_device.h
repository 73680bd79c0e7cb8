#pragma once
// GpuDevice for a CUDA GPU.
#include <atomic>
#include <memory>
#include <mutex>

#include "compute/gpu/cuda/device/cuda_context.h"
#include "compute/gpu/cuda/device/handles.h"
#include "compute/gpu/cuda/layers/cuda_layers.h"
#include "compute/gpu/cuda/matmul/cuda_matmul.h"
#include "compute/gpu/cuda/transfer/cuda_transfers.h"
#include "compute/gpu/gpu_backend.h"

namespace lab::cuda {

class CudaDevice final : public GpuDevice {
 public:
  // `ordinal`: the CUDA device ordinal.
  CudaDevice(const GpuProperties& facts, int ordinal);

  const GpuProperties& facts() const override { return facts_; }
  GpuMemory memory() override;
  GpuHoldings holdings() const noexcept override;
  std::string lost() const override { return gpu_.health().lost(); }

  GpuStream& main_stream() override { return parts().main; }
  std::unique_ptr<GpuStream> make_stream() override;
  std::unique_ptr<GpuEvent> make_event() override;

  std::byte* allocate(std::int64_t bytes, GpuStream& stream) override;
  void release(std::byte* memory, GpuStream& stream) noexcept override;
  void trim_pool() override;
  std::unique_ptr<PinnedMemory> allocate_pinned(std::int64_t bytes) override;

  void copy(GpuCopy direction, void* to, const void* from, std::int64_t bytes,
            GpuStream& stream) override;
  void copy_to_peer(GpuDevice& peer, std::byte* to, const std::byte* from, std::int64_t bytes,
                    GpuStream& stream) override;
  bool can_access(const GpuDevice& peer) const override;
  void set_peer_access(GpuDevice& peer, bool on) override;

  void fill(const GpuFill& fill, GpuStream& stream) override;
  void add(const GpuSum& sum, GpuStream& stream) override;
  double norm(const GpuNorm& norm, GpuStream& stream) override;

  void begin_recording(GpuStream& stream) override;
  std::unique_ptr<GpuGraph> end_recording(GpuStream& stream) override;
  void abandon_recording(GpuStream& stream) noexcept override;
  GpuLayers& layers() override { return *layers_; }
  GpuMatmul& matmul() override { return matmul_; }
  GpuTransfers& transfers() override { return transfers_; }
  GpuLayers& library_layers() override;

 private:
  // Created on the first use of the GPU, which has no context before.
  struct Parts {
    Parts(const CudaContext& gpu, bool has_pools) : main(gpu), pool(gpu, has_pools) {}
    CudaStream main;
    MemoryPool pool;
  };
  Parts& parts();

  const GpuProperties facts_;
  CudaContext gpu_;
  const std::unique_ptr<GpuLayers> layers_;
  CudaMatmul matmul_;
  CudaTransfers transfers_;
  std::once_flag parts_once_;
  std::unique_ptr<Parts> parts_;
  std::atomic<const MemoryPool*> pool_ = nullptr;  // the pool of *parts_; null until they exist
  std::mutex library_mutex_;
  std::unique_ptr<GpuLayers> library_layers_;  // null until the libraries are loaded
};

}  // namespace lab::cuda
