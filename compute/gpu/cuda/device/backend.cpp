// The shared object's one entry: looks for the driver and its GPUs.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <utility>

#include "compute/gpu/cuda/device/cuda_device.h"
#include "compute/gpu/cuda/device/driver_refusal.h"
#include "compute/gpu/gpu_code.h"

namespace lab::cuda {
namespace {

class CudaBackend final : public GpuBackend {
 public:
  CudaBackend(int driver, int runtime)
      : driver_(version_text(driver)), runtime_(version_text(runtime)) {}

  // Becomes the next of devices().
  void add(GpuProperties facts, int ordinal) {
    facts.device = gpu(static_cast<int>(devices_.size()));
    devices_.push_back(std::make_unique<CudaDevice>(facts, ordinal));
  }

  std::vector<GpuDevice*> devices() override {
    std::vector<GpuDevice*> all;
    all.reserve(devices_.size());
    for (const auto& device : devices_) all.push_back(device.get());
    return all;
  }
  std::string driver_version() const override { return driver_; }
  std::string runtime_version() const override { return runtime_; }

 private:
  const std::string driver_, runtime_;
  std::vector<std::unique_ptr<CudaDevice>> devices_;
};

int attribute(int ordinal, cudaDeviceAttr name) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, name, ordinal) == cudaSuccess ? value : 0;
}

std::string pci_bus_id(int ordinal) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal) != cudaSuccess) {
    return {};
  }
  std::string id = text.data();
  std::transform(id.begin(), id.end(), id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return id;
}

// But for the device's number, which the back end gives. Throws where the runtime tells nothing of
// the GPU.
GpuProperties facts_of(int ordinal) {
  cudaDeviceProp told{};
  const cudaError_t status = cudaGetDeviceProperties(&told, ordinal);
  if (status != cudaSuccess) {
    throw gpu_failure(gpu(ordinal), "cudaGetDeviceProperties", describe(status));
  }
  GpuProperties facts;
  facts.name = told.name;
  facts.pci_bus_id = pci_bus_id(ordinal);
  facts.compute_major = told.major;
  facts.compute_minor = told.minor;
  facts.multiprocessors = told.multiProcessorCount;
  facts.copy_engines = told.asyncEngineCount;
  facts.memory_bytes = static_cast<std::int64_t>(told.totalGlobalMem);
  facts.l2_bytes = told.l2CacheSize;
  facts.shared_bytes_per_block = static_cast<std::int64_t>(told.sharedMemPerBlockOptin);
  facts.clock_max_mhz = attribute(ordinal, cudaDevAttrClockRate) / 1e3;
  facts.memory_pools = told.memoryPoolsSupported != 0;
  return facts;
}

void open_backend(GpuOffer& offer) {
  int gpus = 0;
  const cudaError_t status = cudaGetDeviceCount(&gpus);
  cudaGetLastError();
  if (status != cudaSuccess || gpus == 0) return explain_refusal(status, offer);
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const auto backend = std::make_shared<CudaBackend>(driver, runtime);
  std::vector<RefusedGpu> refused;
  for (int i = 0; i < gpus; ++i) {
    const GpuProperties facts = facts_of(i);
    // Asking the runtime for a kernel would make a context on the GPU.
    if (has_gpu_code(LAB_CUDA_CODE, facts.compute_major, facts.compute_minor)) {
      backend->add(facts, i);
    } else {
      refused.push_back({facts, no_gpu_code(facts.compute_major, facts.compute_minor)});
    }
  }
  offer.driver_answered = true;
  offer.refused = std::move(refused);
  offer.reason.clear();
  if (!backend->devices().empty()) offer.backend = backend;
}

void open_quietly(GpuOffer& offer) {
  try {
    open_backend(offer);
  } catch (const std::exception& failure) {
    offer.backend.reset();
    offer.reason = failure.what();
    offer.driver_answered = true;
  }
}

}  // namespace
}  // namespace lab::cuda

extern "C" __attribute__((visibility("default"))) lab::GpuEntry lab_gpu_entry() {
  return {lab::kGpuSeamVersion, lab::cuda::open_quietly};
}
