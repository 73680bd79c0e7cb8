#pragma once
// The state of a network on a GPU: parameters, gradients and running statistics in GPU memory, and
// the host copies through which files, other devices and other processes exchange them.
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "compute/nn/network_plan.h"
#include "compute/tensor/buffer.h"

namespace lab::nn {

// Device addresses of the two values per channel of a batch norm.
struct ChannelPair {
  float* first = nullptr;
  float* second = nullptr;
};

class GpuState {
 public:
  // Places the plan's parameters in the host copies. `plan` and `device`, a GPU, must outlive the
  // state. Throws Error(OutOfMemory) with the requested and the available bytes.
  GpuState(NetworkPlan& plan, DeviceContext& device);
  ~GpuState();

  // Host copies, in pinned memory.
  std::span<float> parameters();
  std::span<float> gradients();

  // Device addresses of a parameter of the plan, its gradient, and of the flat arrays.
  float* value(const Parameter& parameter) const;
  float* grad(const Parameter& parameter) const;
  float* device_parameters() const;
  // From now on also keeps the parameters rounded to bf16: as write() leaves them, and as the
  // optimizer does, which writes the array of all of them. Null before the call.
  void keep_bf16_parameters();
  std::uint16_t* bf16_parameters() const;
  const std::uint16_t* bf16_value(const Parameter& parameter) const;
  // Followed by kFaultFloats, which GPUs sum with the gradients: the fault of the latest loss
  // (GpuLoss), and zeros, so that the length stays a multiple of 64 bytes.
  float* device_gradients() const;
  static constexpr std::int64_t kFaultFloats = 16;
  float* fault() const;
  // Running mean and variance; mean and inverse deviation of the latest forward pass.
  ChannelPair running(const RunningStatistics& statistics) const;
  ChannelPair latest(const RunningStatistics& statistics) const;

  // Copy parameters and running statistics, or running statistics, between GPU and host, and return
  // when complete.
  void read();
  void write();
  void read_statistics();
  void write_statistics();

  // Keeps a copy of the running statistics on the GPU, or takes it back. Both are queued on the
  // main stream.
  void keep_statistics();
  void restore_statistics();

 private:
  void copy(GpuCopy direction, void* to, const void* from, std::int64_t bytes);

  std::int64_t offset_of(const Parameter& parameter) const;
  void round_parameters();

  NetworkPlan& plan_;
  DeviceContext& device_;
  GpuDevice& gpu_;
  std::int64_t channels_ = 0;  // of all batch norms
  Buffer parameters_, gradients_;
  Buffer bf16_parameters_;  // empty unless they are kept
  Buffer statistics_;       // three arrays of [2 * channels_]: running, kept, latest
  std::unique_ptr<PinnedMemory> host_parameters_, host_gradients_;
  std::unique_ptr<PinnedMemory> host_statistics_;  // null without batch norm
  std::vector<std::int64_t> kept_batches_;
};

// A second stream, for work that runs concurrently with that of the main stream.
class SideStream {
 public:
  explicit SideStream(GpuDevice& gpu);
  ~SideStream();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  // The stream, whose work from now on starts after the work queued on the main stream.
  GpuStream& fork();
  // Work queued on the main stream from now on starts after that of the side stream.
  void join();

 private:
  GpuStream& main_;
  std::unique_ptr<GpuStream> stream_;
  std::unique_ptr<GpuEvent> forked_, joined_;
};

// Arguments of an operation on a GPU. Work is queued on the GPU's main stream, or ends before later
// work of the main stream.
struct GpuPass {
  GpuDevice& gpu;
  const GpuState& state;
  std::int64_t batch = 0;
  bool training = true;
  Precision products = Precision::F32;
  Scratch workspace = {};
  Kernels kernels = Kernels::Lab;
  SideStream* side = nullptr;  // null: all work is on the main stream

  GpuLayers& layers() const {
    return kernels == Kernels::Library ? gpu.library_layers() : gpu.layers();
  }
  GpuStream& stream() const { return gpu.main_stream(); }
};

// Queues the gradients of a convolution or linear layer: of its weights, of its input if that needs
// one, and of its bias if it has one.
void queue_gradients(const GpuPass& pass, GpuConvolution layer, bool input_needs_grad);

}  // namespace lab::nn
