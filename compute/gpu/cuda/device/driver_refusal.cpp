#include "compute/gpu/cuda/device/driver_refusal.h"

#include <fmt/format.h>

#include <cstdlib>

#include "compute/gpu/cuda/device/cuda_context.h"
#include "compute/gpu/dynamic_library.h"

namespace lab::cuda {
namespace {

constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE

// What libcuda.so.1 says.
struct DriverAnswer {
  int version = 0;  // of CUDA, the newest it supports
  int init = 0;     // of cuInit
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
    return Maybe<DriverAnswer>::missing("libcuda.so.1 does not tell its version");
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
  if (visible == nullptr) return "the CUDA driver starts but offers no device";
  return fmt::format(
      "CUDA_VISIBLE_DEVICES=\"{}\" hides every GPU; unset it, or name GPUs that are there",
      visible);
}

std::string reason_of(cudaError_t status, const DriverAnswer& driver, int runtime) {
  if (driver.version / 1000 < runtime / 1000) {
    return fmt::format(
        "the NVIDIA driver is too old: it supports CUDA {} and this program needs CUDA {}.0; "
        "install a newer driver",
        version_text(driver.version), runtime / 1000);
  }
  if (driver.init == kNoDevice || status == cudaErrorNoDevice || status == cudaSuccess) {
    return no_device();
  }
  if (driver.init != 0) {
    return fmt::format("the CUDA driver does not start: cuInit returned {}{}", driver.init,
                       driver.init_error);
  }
  return fmt::format("the CUDA driver does not start: {}", describe(status));
}

}  // namespace

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

void explain_refusal(cudaError_t status, GpuOffer& offer) {
  const Maybe<DriverAnswer> driver = ask_driver();
  offer.driver_answered = static_cast<bool>(driver);
  if (!driver) {
    offer.reason = fmt::format("the CUDA driver cannot be used: {}; install the NVIDIA driver",
                               driver.reason());
    return;
  }
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  offer.reason = reason_of(status, *driver, runtime);
}

}  // namespace lab::cuda
