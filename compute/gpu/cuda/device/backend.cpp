// The entry point of the shared object: detects the driver and its GPUs.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <utility>

#include "compute/core/language.h"
#include "compute/core/language_catalogs.h"
#include "compute/gpu/cuda/device/cuda_device.h"
#include "compute/gpu/dynamic_library.h"

namespace lab::cuda {
namespace {

class CudaBackend final : public GpuBackend {
 public:
  CudaBackend(int driver, int runtime)
      : driver_(cuda_version_text(driver)), runtime_(cuda_version_text(runtime)) {}

  // Appends a GPU to devices().
  void add(GpuProperties facts, int ordinal) {
    facts.device = gpu(static_cast<int>(devices_.size()));
    facts.ordinal = ordinal;
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

// Reads all properties except `device`, which the backend assigns. Throws Error(Cuda) if the
// runtime cannot query the GPU.
void read_facts(int ordinal, GpuProperties& facts) {
  facts.pci_bus_id = pci_bus_id(ordinal);
  cudaDeviceProp told{};
  const cudaError_t status = cudaGetDeviceProperties(&told, ordinal);
  if (status != cudaSuccess) {
    cudaGetLastError();
    throw Error(Errc::Cuda, trf("its properties cannot be read ({}); check it with nvidia-smi, or "
                                "restart the machine",
                                describe(status)));
  }
  facts.name = told.name;
  facts.compute_major = told.major;
  facts.compute_minor = told.minor;
  facts.multiprocessors = told.multiProcessorCount;
  facts.copy_engines = told.asyncEngineCount;
  facts.memory_bytes = static_cast<std::int64_t>(told.totalGlobalMem);
  facts.l2_bytes = told.l2CacheSize;
  facts.shared_bytes_per_block = static_cast<std::int64_t>(told.sharedMemPerBlockOptin);
  facts.clock_max_mhz = attribute(ordinal, cudaDevAttrClockRate) / 1e3;
  facts.memory_pools = told.memoryPoolsSupported != 0;
}

// The version of the loaded kernel driver, "580.82.07"; empty if unknown.
std::string driver_release() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string release;
  file >> release;
  return release;
}

constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE

// Versions and status reported by libcuda.so.1.
struct DriverAnswer {
  int version = 0;  // newest CUDA version that it supports
  int init = 0;     // result of cuInit
  std::string init_error;
};

Maybe<DriverAnswer> ask_driver() {
  const Maybe<DynamicLibrary> library = DynamicLibrary::open({"libcuda.so.1"});
  if (!library) return Maybe<DriverAnswer>::missing(library.reason());
  const auto version = library->function<int (*)(int*)>("cuDriverGetVersion");
  const auto init = library->function<int (*)(unsigned)>("cuInit");
  const auto error_name = library->function<int (*)(int, const char**)>("cuGetErrorName");
  DriverAnswer answer;
  if (version == nullptr || init == nullptr || version(&answer.version) != 0) {
    return Maybe<DriverAnswer>::missing(tr("libcuda.so.1 reports no version"));
  }
  answer.init = init(0);
  const char* name = nullptr;
  if (answer.init != 0 && error_name != nullptr && error_name(answer.init, &name) == 0) {
    answer.init_error = fmt::format(" ({})", name);
  }
  return answer;
}

std::string no_device() {
  // Read at start-up, where no thread writes to the environment.
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe)
  if (visible == nullptr) return tr("the CUDA driver starts but reports no device");
  return trf("CUDA_VISIBLE_DEVICES=\"{}\" hides every GPU; unset it, or list GPUs that exist",
             visible);
}

std::string reason_of(cudaError_t status, const DriverAnswer& driver, int runtime) {
  if (driver.version / 1000 < runtime / 1000) {
    return driver_too_old(driver.version, runtime, driver_release());
  }
  if (driver.init == kNoDevice || status == cudaErrorNoDevice || status == cudaSuccess) {
    return no_device();
  }
  if (driver.init != 0) {
    return trf("the CUDA driver failed to start: cuInit returned {}{}", driver.init,
               driver.init_error);
  }
  return trf("the CUDA driver does not start: {}", describe(status));
}

// Sets reason and driver_answered when the runtime offers no GPU. `status` is the result of
// cudaGetDeviceCount. The driver's library is queried directly, because the runtime returns the
// same status for a missing driver and for one that is too old.
void explain_refusal(cudaError_t status, GpuBackendResult& offer) {
  const Maybe<DriverAnswer> driver = ask_driver();
  offer.driver_answered = static_cast<bool>(driver);
  if (!driver) {
    offer.reason =
        trf("the CUDA driver cannot be used: {}; install the NVIDIA driver", driver.reason());
    return;
  }
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  offer.reason = reason_of(status, *driver, runtime);
}

void open_backend(GpuBackendResult& offer) {
  int gpus = 0;
  const cudaError_t status = cudaGetDeviceCount(&gpus);
  cudaGetLastError();
  if (status != cudaSuccess || gpus == 0) return explain_refusal(status, offer);
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const auto backend = std::make_shared<CudaBackend>(driver, runtime);
  // Querying the runtime for a kernel would create a context on each GPU.
  GpuSelection selection = select_gpus(gpus, LAB_CUDA_CODE, read_facts);
  for (const auto& [facts, ordinal] : selection.usable) backend->add(facts, ordinal);
  offer.driver_answered = true;
  offer.refused = std::move(selection.refused);
  offer.reason.clear();
  if (!backend->devices().empty()) offer.backend = backend;
}

void open_quietly(GpuBackendResult& offer, CatalogSlot& catalog) {
  share_catalog_slot(catalog);
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
  return {lab::kGpuInterfaceVersion, lab::cuda::open_quietly};
}
