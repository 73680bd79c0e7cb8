// The tests of tests/compute/gpu/cuda/layers on this machine's GPU.
#include <cstddef>
#include <memory>
#include <vector>

#include "tests/gpu/gpu_machine.h"
#include "tests/support/layers_under_test.h"

namespace lab::test {
namespace {

class LayersOnGpu final : public LayersUnderTest {
 public:
  LayersOnGpu() : gpu_(*gpu_machine().at(gpu()).gpu()), stream_(gpu_.make_stream()) {}
  ~LayersOnGpu() override {
    for (std::byte* array : arrays_) gpu_.release(array, *stream_);
  }

  GpuLayers& layers() override { return gpu_.layers(); }
  GpuStream& stream() override { return *stream_; }

 private:
  void* make(const Array& array, const void* values) override {
    const auto bytes = static_cast<std::int64_t>(array.count * array.element_bytes);
    if (bytes == 0) return nullptr;
    std::byte* memory = gpu_.allocate(bytes, *stream_);
    arrays_.push_back(memory);
    const std::vector<std::byte> unwritten(static_cast<std::size_t>(bytes), std::byte{0xff});
    gpu_.copy(GpuCopy::HostToDevice, memory, values != nullptr ? values : unwritten.data(), bytes,
              *stream_);
    stream_->synchronise();
    return memory;
  }
  void read(void* to, const void* from, std::size_t bytes) override {
    gpu_.copy(GpuCopy::DeviceToHost, to, from, static_cast<std::int64_t>(bytes), *stream_);
    stream_->synchronise();
  }

  GpuDevice& gpu_;
  std::unique_ptr<GpuStream> stream_;
  std::vector<std::byte*> arrays_;
};

}  // namespace

void on_layers(Tiles /*tiles*/, const std::function<void(LayersUnderTest&)>& body) {
  LayersOnGpu layers;
  body(layers);
}

std::string why_no_layers() {
  return why_no_gpu();
}

}  // namespace lab::test
