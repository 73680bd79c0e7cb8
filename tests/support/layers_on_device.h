#pragma once
// Layers under test on a GPU of the lab, real or emulated.
#include <cstddef>
#include <memory>
#include <vector>

#include "tests/support/layers_under_test.h"

namespace lab::test {

class LayersOnDevice final : public LayersUnderTest {
 public:
  // `layers` belongs to `gpu`; both must outlive the object.
  LayersOnDevice(GpuDevice& gpu, GpuLayers& layers)
      : gpu_(gpu), layers_(layers), stream_(gpu_.make_stream()) {}
  ~LayersOnDevice() override {
    for (std::byte* array : arrays_) gpu_.release(array, *stream_);
  }

  GpuLayers& layers() override { return layers_; }
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
  GpuLayers& layers_;
  std::unique_ptr<GpuStream> stream_;
  std::vector<std::byte*> arrays_;
};

}  // namespace lab::test
