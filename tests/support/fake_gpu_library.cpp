// Shared object that replaces the lab's CUDA library in tests of the loader. FAKE_SEAM is the
// interface version it reports.
#include "compute/gpu/gpu_backend.h"

namespace {

void refuse(lab::GpuBackendResult& offer) {
  offer.reason = "this stand-in has no GPUs";
  offer.driver_answered = true;
}

}  // namespace

extern "C" lab::GpuEntry lab_gpu_entry() {
  return {FAKE_SEAM, refuse};
}
