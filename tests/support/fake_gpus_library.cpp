// A shared object in the place of the lab's CUDA half with two GPUs of host memory in it, for the
// real window in tests. LAB_FAKE_LOSES names the operation that ends the first one's context; a
// program that starts anew finds GPUs that work.
#include <cstdlib>

#include "compute/core/units.h"
#include "tests/support/fake_gpu.h"

namespace {

void open_fakes(lab::GpuOffer& offer) {
  const auto backend = std::make_shared<lab::test::FakeBackend>(2, 2 * lab::kGiB);
  const char* loses = std::getenv("LAB_FAKE_LOSES");  // NOLINT(concurrency-mt-unsafe)
  if (loses != nullptr) backend->gpu(0).faults.loses = loses;
  unsetenv("LAB_FAKE_LOSES");  // NOLINT(concurrency-mt-unsafe)
  offer = lab::test::offer_of(backend)();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) lab::GpuEntry lab_gpu_entry() {
  return {lab::kGpuSeamVersion, open_fakes};
}
