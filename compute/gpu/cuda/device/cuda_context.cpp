#include "compute/gpu/cuda/device/cuda_context.h"

#include <fmt/format.h>

#include <exception>

#include "compute/core/language.h"

namespace lab::cuda {

namespace {

// Named by headers from CUDA 12.8 on; a newer driver reports them to older runtimes as well.
constexpr int kErrorContained = 226;
constexpr int kErrorTensorMemoryLeak = 721;

}  // namespace

std::string describe(cudaError_t status) {
  return fmt::format("{} ({})", cudaGetErrorName(status), cudaGetErrorString(status));
}

bool ends_context(cudaError_t status) {
  switch (static_cast<int>(status)) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case kErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case kErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown: return true;  // of a GPU that has left the bus
    default: return false;
  }
}

CudaContext::CudaContext(const GpuProperties& facts, int ordinal)
    : device_(facts.device),
      ordinal_(ordinal),
      compute_major_(facts.compute_major),
      compute_minor_(facts.compute_minor),
      health_(device_) {}

void CudaContext::use() const {
  health_.require_usable();
  check(cudaSetDevice(ordinal_), "cudaSetDevice");
}

bool CudaContext::use_quietly() const noexcept {
  try {
    use();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

std::string CudaContext::reason_of_loss(cudaError_t status) const {
  const std::string more = describe_more_ == nullptr ? std::string() : describe_more_();
  return more.empty() ? describe(status) : fmt::format("{}: {}", describe(status), more);
}

void CudaContext::check(cudaError_t status, const char* call) const {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, which a later launch would report again
  if (ends_context(status)) throw health_.lose(call, reason_of_loss(status));
  if (status == cudaErrorMemoryAllocation) {
    throw Error(
        Errc::OutOfMemory,
        trf("{}: {} ran out of GPU memory; free some tensors, or end other programs that use it",
            to_string(device_), call));
  }
  if (status == cudaErrorDevicesUnavailable) {
    throw Error(Errc::Unsupported, gpu_unavailable(device_, describe(status)));
  }
  if (status == cudaErrorNoKernelImageForDevice) {
    throw Error(Errc::Unsupported, fmt::format("{}: {}", to_string(device_),
                                               no_gpu_code(compute_major_, compute_minor_)));
  }
  if (status == cudaErrorUnsupportedPtxVersion) {
    throw Error(Errc::Unsupported, fmt::format("{}: {}", to_string(device_),
                                               unusable_ptx(compute_major_, compute_minor_)));
  }
  throw gpu_failure(device_, call, describe(status));
}

// The library's status does not reveal whether the context has ended; any runtime query does.
void CudaContext::fail(const std::string& call, const std::string& why) const {
  const cudaError_t status = cudaStreamQuery(nullptr);
  if (ends_context(status)) check(status, call.c_str());
  cudaGetLastError();
  throw gpu_failure(device_, call, why);
}

void CudaContext::note(cudaError_t status, const char* call) const noexcept {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  if (!ends_context(status)) return;
  try {
    health_.lose(call, reason_of_loss(status));
  } catch (const std::exception&) {
    // The next call that can throw reports the loss.
  }
}

}  // namespace lab::cuda
