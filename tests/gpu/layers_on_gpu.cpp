// The tests of tests/compute/gpu/cuda/layers on this machine's GPU, by the lab's kernels and by
// cuDNN and cuBLAS where they can be used.
#include <cstdio>
#include <cstdlib>

#include "compute/core/error.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/support/layers_on_device.h"

namespace lab::test {
namespace {

// Null without the libraries, after printing the reason once, and with LAB_TEST_OWN_KERNELS, for
// checks of kernels that the libraries' own would not pass.
GpuLayers* library_layers(GpuDevice& gpu) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): never set here
  if (std::getenv("LAB_TEST_OWN_KERNELS") != nullptr) return nullptr;
  static GpuLayers* const kLayers = [&]() -> GpuLayers* {
    try {
      return &gpu.library_layers();
    } catch (const Error& error) {
      std::printf("only the lab's kernels are tested: %s\n", error.what());
      return nullptr;
    }
  }();
  return kLayers;
}

}  // namespace

void on_layers(Tiles tiles, const std::function<void(LayersUnderTest&)>& body) {
  GpuDevice& gpu = *gpu_machine().at(lab::gpu()).gpu();
  LayersOnDevice own(gpu, gpu.layers());
  body(own);
  GpuLayers* const library = tiles == Tiles::Chosen ? library_layers(gpu) : nullptr;
  if (library == nullptr) return;
  SCOPED_TRACE(library->libraries());
  LayersOnDevice by_library(gpu, *library);
  body(by_library);
}

std::string why_no_layers() {
  return why_no_gpu();
}

}  // namespace lab::test
