// Shared object that replaces the lab's CUDA library in tests of the loader. It reports the
// interface version FAKE_INTERFACE_VERSION.
#include "compute/gpu/gpu_backend.h"

namespace {

void refuse(lab::GpuBackendResult& offer, lab::CatalogSlot& catalog) {
  const lab::MoCatalog* texts = catalog;
  const bool translated = texts != nullptr && texts->size() > 0;
  offer.reason = translated ? "this stand-in was given a catalog" : "this stand-in has no GPUs";
  offer.driver_answered = true;
}

}  // namespace

extern "C" lab::GpuEntry lab_gpu_entry() {
  return {FAKE_INTERFACE_VERSION, refuse};
}
