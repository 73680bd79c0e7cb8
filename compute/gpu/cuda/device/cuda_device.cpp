#include "compute/gpu/cuda/device/cuda_device.h"

#include <array>
#include <cmath>

#include "compute/gpu/cuda/layers/cuda_library_layers.h"
#include "compute/gpu/cuda/matmul/rungs/launch.h"
#include "compute/gpu/cuda/ops/ops.h"
#include "compute/gpu/nearby_processors.h"

namespace lab::cuda {
namespace {

// Valid because the CUDA backend creates all of its devices as CudaDevice.
const CudaDevice& cuda_device(const GpuDevice& device) {
  return static_cast<const CudaDevice&>(device);
}

}  // namespace

CudaDevice::CudaDevice(const GpuProperties& facts, int ordinal)
    : facts_(facts),
      gpu_(facts, ordinal),
      layers_(make_layers(gpu_, facts.multiprocessors)),
      matmul_(gpu_, facts_),
      transfers_(gpu_, facts.multiprocessors) {
  gpu_.explain_loss(cuda_matmul::describe_stall);
}

CudaDevice::Parts& CudaDevice::parts() {
  std::call_once(parts_once_, [this] {
    parts_ = std::make_unique<Parts>(gpu_, facts_.memory_pools);
    pool_ = &parts_->pool;
  });
  return *parts_;
}

GpuMemory CudaDevice::memory() {
  return parts().pool.read();
}

GpuHoldings CudaDevice::holdings() const noexcept {
  const MemoryPool* pool = pool_;
  return {gpu_.pinned_bytes(), matmul_.workspace_bytes(),
          pool != nullptr ? pool->reserved_bytes() : 0};
}

std::unique_ptr<GpuStream> CudaDevice::make_stream() {
  return std::make_unique<CudaStream>(gpu_);
}

std::unique_ptr<GpuEvent> CudaDevice::make_event() {
  return std::make_unique<CudaEvent>(gpu_);
}

std::byte* CudaDevice::allocate(std::int64_t bytes, GpuStream& stream) {
  return parts().pool.allocate(bytes, raw(stream));
}

void CudaDevice::release(std::byte* memory, GpuStream& stream) noexcept {
  parts_->pool.release(memory, raw(stream));  // allocate() has created parts_
}

void CudaDevice::trim_pool() {
  parts().pool.trim();
}

std::unique_ptr<PinnedMemory> CudaDevice::allocate_pinned(std::int64_t bytes) {
  std::unique_ptr<PinnedMemory> pinned;
  run_near_gpu(facts_.pci_bus_id, [&] { pinned = std::make_unique<CudaPinned>(gpu_, bytes); });
  return pinned;
}

void CudaDevice::copy(GpuCopy direction, void* to, const void* from, std::int64_t bytes,
                      GpuStream& stream) {
  constexpr std::array kKinds = {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                 cudaMemcpyDeviceToDevice};
  gpu_.use();
  gpu_.check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes),
                             kKinds.at(static_cast<std::size_t>(direction)), raw(stream)),
             "cudaMemcpyAsync");
}

void CudaDevice::copy_to_peer(GpuDevice& peer, std::byte* to, const std::byte* from,
                              std::int64_t bytes, GpuStream& stream) {
  gpu_.use();
  gpu_.check(cudaMemcpyPeerAsync(to, cuda_device(peer).gpu_.ordinal(), from, gpu_.ordinal(),
                                 static_cast<std::size_t>(bytes), raw(stream)),
             "cudaMemcpyPeerAsync");
}

bool CudaDevice::can_access(const GpuDevice& peer) const {
  int can = 0;
  gpu_.check(cudaDeviceCanAccessPeer(&can, gpu_.ordinal(), cuda_device(peer).gpu_.ordinal()),
             "cudaDeviceCanAccessPeer");
  return can != 0;
}

void CudaDevice::set_peer_access(GpuDevice& peer, bool on) {
  if (!can_access(peer)) throw no_peer_access(facts_.device, peer.facts().device);
  gpu_.use();
  const int other = cuda_device(peer).gpu_.ordinal();
  const cudaError_t status =
      on ? cudaDeviceEnablePeerAccess(other, 0) : cudaDeviceDisablePeerAccess(other);
  const cudaError_t already =
      on ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled;
  if (status == already) {
    cudaGetLastError();
  } else {
    gpu_.check(status, on ? "cudaDeviceEnablePeerAccess" : "cudaDeviceDisablePeerAccess");
  }
  static_cast<CudaDevice&>(peer).parts().pool.set_access(gpu_.ordinal(), on);
}

void CudaDevice::fill(const GpuFill& fill, GpuStream& stream) {
  gpu_.use();
  gpu_.check(launch_fill(fill, raw(stream)), "fill");
}

void CudaDevice::add(const GpuSum& sum, GpuStream& stream) {
  gpu_.use();
  gpu_.check(launch_add(sum, raw(stream)), "add");
}

double CudaDevice::norm(const GpuNorm& norm, GpuStream& stream) {
  MemoryPool& pool = parts().pool;
  const auto release = [&](double* sums) {
    pool.release(reinterpret_cast<std::byte*>(sums), raw(stream));
  };
  const std::unique_ptr<double, decltype(release)> sums(
      reinterpret_cast<double*>(pool.allocate(norm_scratch_bytes(), raw(stream))), release);
  gpu_.check(launch_sum_of_squares(norm, sums.get(), raw(stream)), "norm");
  double sum = 0;
  copy(GpuCopy::DeviceToHost, &sum, sums.get(), sizeof sum, stream);
  stream.synchronise();
  return std::sqrt(sum);
}

GpuLayers& CudaDevice::library_layers() {
  const std::lock_guard lock(library_mutex_);
  if (!library_layers_) library_layers_ = make_library_layers(gpu_, facts_, *layers_);
  return *library_layers_;
}

void CudaDevice::begin_recording(GpuStream& stream) {
  gpu_.use();
  gpu_.check(cudaStreamBeginCapture(raw(stream), cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
}

std::unique_ptr<GpuGraph> CudaDevice::end_recording(GpuStream& stream) {
  gpu_.use();
  cudaGraph_t graph = nullptr;
  gpu_.check(cudaStreamEndCapture(raw(stream), &graph), "cudaStreamEndCapture");
  return std::make_unique<CudaGraph>(gpu_, graph);
}

void CudaDevice::abandon_recording(GpuStream& stream) noexcept {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  gpu_.note(cudaStreamIsCapturing(raw(stream), &capture), "cudaStreamIsCapturing");
  if (capture == cudaStreamCaptureStatusNone) return;
  cudaGraph_t graph = nullptr;
  // Fails where an error has invalidated the recording, and ends it nevertheless.
  gpu_.note(cudaStreamEndCapture(raw(stream), &graph), "cudaStreamEndCapture");
  if (graph != nullptr) gpu_.note(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

}  // namespace lab::cuda
