// Shared object that replaces the lab's CUDA library in tests of the loader. It reports the
// interface version FAKE_INTERFACE_VERSION.
#include "compute/gpu/gpu_backend.h"

namespace {

void refuse(lab::GpuBackendResult& offer) {
  offer.reason = "this stand-in has no GPUs";
  offer.driver_answered = true;
}

}  // namespace

extern "C" lab::GpuEntry lab_gpu_entry() {
  return {FAKE_INTERFACE_VERSION, refuse};
}
