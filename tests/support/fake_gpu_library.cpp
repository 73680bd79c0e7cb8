// A shared object in the place of the lab's CUDA half, for tests of the loader. FAKE_SEAM is the
// version of the interface that it claims.
#include "compute/gpu/gpu_backend.h"

namespace {

void refuse(lab::GpuOffer& offer) {
  offer.reason = "this stand-in has no GPUs";
  offer.driver_answered = true;
}

}  // namespace

extern "C" lab::GpuEntry lab_gpu_entry() {
  return {FAKE_SEAM, refuse};
}
