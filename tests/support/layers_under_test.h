#pragma once
// The layers of a network on a GPU with arrays for one test: in the emulator
// (tests/compute/gpu/cuda/layers) or on the machine's GPU (tests/gpu). The tests of the layers are
// linked into both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compute/gpu/gpu_backend.h"
#include "compute/gpu/gpu_layers.h"
#include "compute/tensor/tensor.h"

namespace lab::test {

class LayersUnderTest {
 public:
  LayersUnderTest() = default;
  virtual ~LayersUnderTest() = default;
  LayersUnderTest(const LayersUnderTest&) = delete;
  LayersUnderTest& operator=(const LayersUnderTest&) = delete;

  static std::uint16_t rounded_bits(float value) { return to_bf16(value).bits; }
  static float rounded_to(float value, DType dtype) {
    return dtype == DType::F32 ? value : to_float(to_bf16(value));
  }

  virtual GpuLayers& layers() = 0;
  virtual GpuStream& stream() = 0;
  // Whether cuDNN and cuBLAS compute, whose algorithms and order of sums are their own: results
  // have larger errors, and the guarantees of the lab's kernels beyond gpu_layers.h do not hold.
  bool by_library() { return !layers().libraries().empty(); }

  // Arrays of the GPU: one that kernels only read, one that they write, whose bits are all set
  // before, and one that they read and write.
  template <typename T>
  const T* input(const std::string& name, const std::vector<T>& values) {
    return static_cast<const T*>(
        make({name, values.size(), sizeof(T), /*read_only=*/true}, values.data()));
  }
  template <typename T>
  T* output(const std::string& name, std::size_t count) {
    return static_cast<T*>(make({name, count, sizeof(T), /*read_only=*/false}, nullptr));
  }
  template <typename T>
  T* inout(const std::string& name, const std::vector<T>& values) {
    return static_cast<T*>(
        make({name, values.size(), sizeof(T), /*read_only=*/false}, values.data()));
  }

  // The same for activations, whose values are rounded to the type.
  ConstGpuActivations input(const std::string& name, const std::vector<float>& values,
                            DType dtype) {
    if (dtype == DType::F32) return input(name, values);
    return {input(name, bits_of(values)), dtype};
  }
  GpuActivations output(const std::string& name, std::size_t count, DType dtype) {
    if (dtype == DType::F32) return output<float>(name, count);
    return {output<std::uint16_t>(name, count), dtype};
  }
  GpuActivations inout(const std::string& name, const std::vector<float>& values, DType dtype) {
    if (dtype == DType::F32) return inout(name, values);
    return {inout(name, bits_of(values)), dtype};
  }

  // Waits for the stream.
  std::vector<float> values(ConstGpuActivations array, std::size_t count) {
    if (!array.is_bf16()) return values(array.f32(), count);
    std::vector<float> all;
    all.reserve(count);
    for (const std::uint16_t bits : values(array.bf16(), count)) {
      all.push_back(to_float(Bf16{bits}));
    }
    return all;
  }
  template <typename T>
  std::vector<T> values(const T* array, std::size_t count) {
    std::vector<T> values(count);
    read(values.data(), array, count * sizeof(T));
    return values;
  }

 protected:
  struct Array {
    std::string name;
    std::size_t count, element_bytes;
    bool read_only;
  };
  virtual void* make(const Array& array, const void* values) = 0;
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;

 private:
  static std::vector<std::uint16_t> bits_of(const std::vector<float>& values) {
    std::vector<std::uint16_t> bits(values.size());
    std::transform(values.begin(), values.end(), bits.begin(), rounded_bits);
    return bits;
  }
};

// Tiles of convolutions. The emulator can use larger ones for small products, and wgmma; a GPU
// chooses.
enum class Tiles { Chosen, Narrow, Small, Medium, Large, Wgmma };

// Calls `body` with new arrays for each way to run the layers: by the lab's kernels, in the
// emulator with the threads of a block in either order, except for wgmma; and, with Tiles::Chosen,
// by libraries where they can be used, in the emulator by fakes of them.
void on_layers(Tiles tiles, const std::function<void(LayersUnderTest&)>& body);

// Why the layers cannot run on this machine; empty if they can.
std::string why_no_layers();

}  // namespace lab::test

#define LAB_REQUIRE_LAYERS()                                                      \
  if (const std::string lab_why = ::lab::test::why_no_layers(); !lab_why.empty()) \
  GTEST_SKIP() << lab_why
