// The tests of the layers in the emulator, with all accesses checked, and by fakes of cuDNN and
// cuBLAS on an emulated GPU.
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "compute/gpu/cuda/layers/layers.cuh"
#include "compute/gpu/cuda/layers/wgmma_layers.cuh"
#include "compute/gpu/emulator/device/emulated_gpus.h"
#include "compute/gpu/emulator/launch.h"
#include "tests/support/fake_layer_libraries/fake_libraries.h"
#include "tests/support/layers_on_device.h"

namespace lab::test {
namespace {

struct EmulatedArrays {
  std::deque<simt::GlobalArray<std::byte>> arrays;
  std::vector<simt::ArrayRef> refs;
  bool last_thread_first = false;
};

class EmulatedLauncher {
 public:
  explicit EmulatedLauncher(const EmulatedArrays& arrays) : arrays_(arrays) {}

  int multiprocessors() const { return 2; }
  template <class Boxes>
  simt::BoxMap map(const Boxes& boxes) const {
    return {boxes};
  }

  template <class Kernel>
  void launch(const cuda::LaunchGrid& grid, const typename Kernel::Args& args,
              GpuStream& /*stream*/) {
    simt::launch({.grid = {grid.x, grid.y, grid.z},
                  .block = {Kernel::kThreads},
                  .dynamic_shared_bytes = cuda::dynamic_bytes<Kernel>(),
                  .arrays = arrays_.refs,
                  .last_thread_first = arrays_.last_thread_first},
                 [&] { Kernel::run(args); });
  }

 private:
  const EmulatedArrays& arrays_;
};

std::optional<cuda::TileSize> size_of(Tiles tiles) {
  switch (tiles) {
    case Tiles::Narrow: return cuda::TileSize::Narrow;
    case Tiles::Small: return cuda::TileSize::Small;
    case Tiles::Medium: return cuda::TileSize::Medium;
    case Tiles::Large: return cuda::TileSize::Large;
    case Tiles::Chosen:
    case Tiles::Wgmma: break;
  }
  return std::nullopt;
}

template <class Layers>
class EmulatedLayers final : public LayersUnderTest {
 public:
  EmulatedLayers(bool last_thread_first, Tiles tiles)
      : layers_(EmulatedLauncher(arrays_), size_of(tiles)) {
    arrays_.last_thread_first = last_thread_first;
  }

  GpuLayers& layers() override { return layers_; }
  GpuStream& stream() override { return stream_; }

 private:
  class Stream final : public GpuStream {
   public:
    void synchronise() override {}
    void wait(const GpuEvent& /*event*/) override {}
    void* native() override { return nullptr; }
  };

  void* make(const Array& array, const void* values) override {
    const std::size_t bytes = array.count * array.element_bytes;
    auto& memory = arrays_.arrays.emplace_back(array.name, bytes);
    if (values != nullptr && bytes > 0) std::memcpy(memory.data(), values, bytes);
    simt::ArrayRef ref = memory;
    ref.element_bytes = array.element_bytes;
    ref.read_only = array.read_only;
    arrays_.refs.push_back(ref);
    return memory.data();
  }
  void read(void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  EmulatedArrays arrays_;
  Stream stream_;
  Layers layers_;
};

void on_library(const std::function<void(LayersUnderTest&)>& body) {
  FakeLibraries fake;
  {
    EmulatedGpus gpus({.gpus = 1, .checked = true, .library = fake.maker()});
    GpuDevice& gpu = *gpus.devices().front();
    SCOPED_TRACE(gpu.library_layers().libraries());
    LayersOnDevice layers(gpu, gpu.library_layers());
    body(layers);
  }
  EXPECT_EQ(fake.problems(), std::vector<std::string>{});
  EXPECT_EQ(fake.live_handles() + fake.live_descriptors(), 0);
}

}  // namespace

void on_layers(Tiles tiles, const std::function<void(LayersUnderTest&)>& body) {
  if (tiles == Tiles::Wgmma) {  // in one order of the threads, because it takes long
    EmulatedLayers<cuda::WgmmaLayers<EmulatedLauncher>> layers(false, tiles);
    body(layers);
    return;
  }
  for (const bool last_thread_first : {false, true}) {
    EmulatedLayers<cuda::Layers<EmulatedLauncher>> layers(last_thread_first, tiles);
    body(layers);
  }
  if (tiles == Tiles::Chosen) on_library(body);
}

std::string why_no_layers() {
  return {};
}

}  // namespace lab::test
