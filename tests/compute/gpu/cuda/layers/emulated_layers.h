#pragma once
// The layers of the CUDA backend on the emulator: arrays in host memory whose accesses are checked.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "compute/gpu/cuda/layers/layers.cuh"
#include "compute/gpu/emulator/launch.h"
#include "compute/gpu/gpu_backend.h"

namespace lab::test {

class EmulatedStream final : public GpuStream {
 public:
  void synchronise() override {}
  void wait(const GpuEvent& /*event*/) override {}
};

// The arrays that kernels may access, in the order of their creation.
class EmulatedArrays {
 public:
  explicit EmulatedArrays(bool last_thread_first) : last_thread_first_(last_thread_first) {}

  // A read-only array, and one that kernels write, whose bits are set before.
  template <typename T>
  const T* input(const std::string& name, const std::vector<T>& values) {
    auto& bytes = add<T>(name, values.size(), /*read_only=*/true);
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), values.size() * sizeof(T));
    return reinterpret_cast<const T*>(bytes.data());
  }
  template <typename T>
  T* output(const std::string& name, std::size_t count) {
    return reinterpret_cast<T*>(add<T>(name, count, /*read_only=*/false).data());
  }
  template <typename T>
  T* inout(const std::string& name, const std::vector<T>& values) {
    T* array = output<T>(name, values.size());
    std::memcpy(array, values.data(), values.size() * sizeof(T));
    return array;
  }
  template <typename T>
  static std::vector<T> values(const T* array, std::size_t count) {
    return {array, array + count};
  }

  template <class Kernel>
  void launch(const cuda::LaunchGrid& grid, const typename Kernel::Args& args) const {
    simt::launch({.grid = {grid.x, grid.y, grid.z},
                  .block = {Kernel::kThreads},
                  .arrays = refs_,
                  .last_thread_first = last_thread_first_},
                 [&] { Kernel::run(args); });
  }

 private:
  template <typename T>
  simt::GlobalArray<std::byte>& add(const std::string& name, std::size_t count, bool read_only) {
    auto& bytes = arrays_.emplace_back(name, count * sizeof(T));
    simt::ArrayRef ref = bytes;
    ref.element_bytes = sizeof(T);
    ref.read_only = read_only;
    refs_.push_back(ref);
    return bytes;
  }

  bool last_thread_first_;
  std::deque<simt::GlobalArray<std::byte>> arrays_;
  std::vector<simt::ArrayRef> refs_;
};

class EmulatedLauncher {
 public:
  explicit EmulatedLauncher(const EmulatedArrays& arrays) : arrays_(arrays) {}

  template <class Kernel>
  void launch(const cuda::LaunchGrid& grid, const typename Kernel::Args& args,
              GpuStream& /*stream*/) {
    arrays_.launch<Kernel>(grid, args);
  }

 private:
  const EmulatedArrays& arrays_;
};

// Arrays and the layers that work on them.
struct EmulatedLayers {
  explicit EmulatedLayers(bool last_thread_first) : arrays(last_thread_first) {}

  EmulatedArrays arrays;
  EmulatedStream stream;
  EmulatedLauncher launcher{arrays};
  cuda::Layers<EmulatedLauncher> layers{launcher};
};

// Runs `body(EmulatedLayers&)` with the threads of a block in both orders.
template <typename Body>
void in_both_orders(const Body& body) {
  for (const bool last_thread_first : {false, true}) {
    EmulatedLayers emulated(last_thread_first);
    body(emulated);
  }
}

}  // namespace lab::test
