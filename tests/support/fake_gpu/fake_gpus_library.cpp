// Shared object that replaces the lab's CUDA library with two GPUs emulated in host memory, for
// tests of the real program. LAB_FAKE_LOSES names the operation that loses the first GPU's context;
// after the program restarts, both GPUs work. LAB_FAKE_WRONG names a rung whose products are wrong.
#include <cstdlib>

#include "compute/core/language_catalogs.h"
#include "compute/core/units.h"
#include "tests/support/fake_gpu/fake_gpu.h"

namespace {

void open_fakes(lab::GpuBackendResult& offer, lab::CatalogSlot& catalog) {
  lab::share_catalog_slot(catalog);
  const auto backend = std::make_shared<lab::test::FakeBackend>(2, 2 * lab::kGiB);
  const char* loses = std::getenv("LAB_FAKE_LOSES");  // NOLINT(concurrency-mt-unsafe)
  if (loses != nullptr) backend->gpu(0).faults.loses = loses;
  unsetenv("LAB_FAKE_LOSES");                         // NOLINT(concurrency-mt-unsafe)
  const char* wrong = std::getenv("LAB_FAKE_WRONG");  // NOLINT(concurrency-mt-unsafe)
  if (wrong != nullptr) backend->gpu(0).matmul().wrong = wrong;
  offer = lab::test::backend_opener(backend)();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) lab::GpuEntry lab_gpu_entry() {
  return {lab::kGpuInterfaceVersion, open_fakes};
}
