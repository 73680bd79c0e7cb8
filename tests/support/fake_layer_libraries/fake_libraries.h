#pragma once
// Fakes of cuDNN and cuBLAS for emulated GPUs. They compute on the GPU's stream, in its memory, in
// float64, and check what the libraries would only misbehave on: descriptors that are not set, not
// of the array's size or destroyed, pointers outside the GPU's memory, factors that are not on the
// host, workspaces that are too small or misaligned, algorithms that were not offered, a stream
// that was not set or has been destroyed, and anything created or searched while a stream is
// recorded.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "compute/gpu/gpu_backend.h"
#include "compute/gpu/library/layer_libraries.h"
#include "compute/gpu/library/library_host.h"

namespace lab::test {

// The libraries of a process: one object at a time. Handles belong to the GPU that the calling
// thread made current.
class FakeLibraries {
 public:
  FakeLibraries();
  ~FakeLibraries();
  FakeLibraries(const FakeLibraries&) = delete;
  FakeLibraries& operator=(const FakeLibraries&) = delete;

  library::LayerLibraries libraries() const;
  std::unique_ptr<library::LibraryHost> host(GpuDevice& gpu) const;
  // For MachineOptions::emulated_library: layers over these libraries.
  std::function<std::unique_ptr<GpuLayers>(GpuDevice& gpu, GpuLayers& own)> maker(
      std::int64_t workspace_limit_bytes = kWorkspace_bytes) const;

  // Algorithms number 3 need kWorkspace_bytes per image, number 1 needs kSmallWorkspace_bytes per
  // image and number 0 needs none.
  static constexpr std::int64_t kWorkspace_bytes = 64 << 10;
  static constexpr std::int64_t kSmallWorkspace_bytes = 4 << 10;

  // Every misuse, in the order in which it was seen.
  std::vector<std::string> problems() const;
  int live_handles() const;
  int live_descriptors() const;
  // How often a function was called; algorithms with which convolutions were computed.
  int calls(const std::string& function) const;
  std::set<int> algorithms() const;

  // Calls of this function return the status; an empty name ends that.
  void fail(const std::string& function, int status);

 private:
  struct Misuse;
  friend struct FakeCalls;
  template <class Status, class Body>
  static Status call(const char* function, const Body& body);

  mutable std::mutex mutex_;
  std::vector<std::string> problems_;
  std::map<std::string, int> calls_;
  std::set<int> algorithms_;
  std::map<const void*, std::shared_ptr<void>> handles_;
  std::set<const void*> descriptors_;
  std::string failing_;
  int failing_status_ = 0;
};

}  // namespace lab::test
