#pragma once
// One emulated GPU.
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "compute/gpu/emulator/device/emulated_gpus.h"
#include "compute/gpu/emulator/device/handles.h"
#include "compute/gpu/emulator/index.h"
#include "compute/gpu/gpu_backend.h"

namespace lab::emulated {

// Products are not available: the list of rungs is empty.
class EmulatedMatmul final : public GpuMatmul {
 public:
  std::span<const RungInfo> rungs() const override;
  std::optional<std::string> unsupported(const RungInfo& rung, const GpuProduct& product) override;
  void run(const RungInfo& rung, const GpuProduct& product, GpuStream& stream) override;
  std::optional<double> run_peak(Precision precision, std::int64_t rounds,
                                 GpuStream& stream) override;
};

class EmulatedDevice final : public GpuDevice {
 public:
  EmulatedDevice(int index, const EmulatedGpuOptions& options, Scheduler& scheduler,
                 PinnedRegistry& pinned);

  const GpuProperties& facts() const override { return facts_; }
  GpuMemory memory() override;
  GpuHoldings holdings() const noexcept override;
  std::string lost() const override { return core_.health.lost(); }
  GpuStream& main_stream() override { return *main_stream_; }
  std::unique_ptr<GpuStream> make_stream() override;
  std::unique_ptr<GpuEvent> make_event() override;
  std::byte* allocate(std::int64_t bytes, GpuStream& stream) override;
  void release(std::byte* memory, GpuStream& stream) noexcept override;
  void trim_pool() override { core_.health.require_usable(); }
  std::unique_ptr<PinnedMemory> allocate_pinned(std::int64_t bytes) override;
  void copy(GpuCopy direction, void* to, const void* from, std::int64_t bytes,
            GpuStream& stream) override;
  void copy_to_peer(GpuDevice& peer, std::byte* to, const std::byte* from, std::int64_t bytes,
                    GpuStream& stream) override;
  bool can_access(const GpuDevice& peer) const override { return peer_access_ && &peer != this; }
  void set_peer_access(GpuDevice& peer, bool on) override;
  void fill(const GpuFill& fill, GpuStream& stream) override;
  void add(const GpuSum& sum, GpuStream& stream) override;
  double norm(const GpuNorm& norm, GpuStream& stream) override;
  void begin_recording(GpuStream& stream) override;
  std::unique_ptr<GpuGraph> end_recording(GpuStream& stream) override;
  void abandon_recording(GpuStream& stream) noexcept override;
  void begin_interruptible(std::stop_token stop) override;
  bool end_interruptible() noexcept override;
  GpuLayers& layers() override { return *layers_; }
  GpuMatmul& matmul() override { return matmul_; }
  // Throws Error(Unsupported): transfers are measured, and emulated ones are not.
  GpuTransfers& transfers() override;
  // Throws Error(Unsupported) unless the options name a library.
  GpuLayers& library_layers() override;

  // Runs `body` once per thread of a grid, asynchronously on `stream`, which must be of this GPU.
  void launch(const char* name, simt::Extent grid, simt::Extent block, std::function<void()> body,
              GpuStream& stream, std::size_t dynamic_shared_bytes = 0);

 private:
  EmulatedStream& own(GpuStream& stream, const char* call) const;
  void require_usable_range(const DeviceMemory& memory, const void* at, std::int64_t bytes,
                            const char* call) const;

  GpuProperties facts_;
  const bool peer_access_;
  Core core_;
  std::unique_ptr<EmulatedStream> main_stream_;
  std::unique_ptr<GpuLayers> layers_;
  EmulatedMatmul matmul_;
  const std::function<std::unique_ptr<GpuLayers>(GpuDevice&, GpuLayers&)> open_library_;
  std::mutex library_mutex_;
  std::unique_ptr<GpuLayers> library_layers_;
};

std::unique_ptr<GpuLayers> make_layers(EmulatedDevice& device);

}  // namespace lab::emulated
