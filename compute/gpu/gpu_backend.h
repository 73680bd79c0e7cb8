#pragma once
// The interface between the lab and its GPUs. The CUDA implementation is a separate shared object,
// loaded when the lab looks for GPUs (gpu_loader.h), so that the program starts and works without a
// driver. Tests implement the same classes with a GPU emulated in host memory.
//
// Threads  A device may be used from several threads; a stream, an event or pinned memory by one
//          thread at a time.
// Errors   Every function throws Error(Cuda) naming the call and the CUDA error, Error(OutOfMemory)
//          with the sizes, and Error(DeviceLost) once an error has ended the GPU's context; the GPU
//          is then unusable until the program is restarted. Functions marked noexcept ignore a lost
//          GPU.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/core/mo_catalog.h"
#include "compute/gpu/gpu_layers.h"
#include "compute/gpu/gpu_matmul.h"
#include "compute/gpu/gpu_ops.h"
#include "compute/gpu/gpu_transfers.h"

namespace lab {

// Incremented with every change to a class or struct of this interface, RungInfo included.
inline constexpr int kGpuInterfaceVersion = 13;

// Constant properties of a GPU. Reading them creates no context and wakes no GPU that listing the
// GPUs does not wake.
struct GpuProperties {
  Device device;
  int ordinal = 0;         // CUDA's number of the device
  std::string name;        // "NVIDIA H200"
  std::string pci_bus_id;  // as in /sys/bus/pci: "0000:01:00.0"
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  int copy_engines = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes_per_block = 0;  // with opt-in
  double clock_max_mhz = 0;                 // SM clock; 0 if unknown
  bool memory_pools = false;                // stream-ordered allocation
};

// Memory use of the GPU by all programs, and of this process's pool.
struct GpuMemory {
  std::int64_t free_bytes = 0;  // available to any program
  std::int64_t total_bytes = 0;
  std::int64_t pool_reserved_bytes = 0;  // reserved for this process
  std::int64_t pool_used_bytes = 0;      // part of the reserved bytes that is allocated
};

// Memory that this process holds on account of a GPU.
struct GpuHoldings {
  std::int64_t pinned_bytes = 0;         // host memory from allocate_pinned()
  std::int64_t workspace_bytes = 0;      // GPU memory of the matrix libraries, outside the pool
  std::int64_t pool_reserved_bytes = 0;  // GPU memory of the pool, which holds the tensors
};

class GpuEvent;

// An in-order queue of work. Destruction takes effect after the queued work; for thread safety see
// the head of this file.
class GpuStream {
 public:
  GpuStream() = default;
  virtual ~GpuStream() = default;
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;
  // Blocks the host until all queued work has run; throws the errors of that work.
  virtual void synchronise() = 0;
  // Work queued from now on starts after the recorded event, which may be on another GPU.
  virtual void wait(const GpuEvent& event) = 0;
  // The cudaStream_t, for NVIDIA's libraries. An emulated GPU returns the address of this object.
  virtual void* native() = 0;
};

// A point in a stream.
class GpuEvent {
 public:
  GpuEvent() = default;
  virtual ~GpuEvent() = default;
  GpuEvent(const GpuEvent&) = delete;
  GpuEvent& operator=(const GpuEvent&) = delete;
  virtual void record(GpuStream& stream) = 0;
  virtual bool done() const = 0;
  virtual void synchronise() const = 0;
  // Seconds from `earlier` to this event; both must have completed. The resolution is about 0.5 us.
  virtual double seconds_since(const GpuEvent& earlier) const = 0;
};

// A sequence of recorded operations, which a stream runs as one. Pointers are those of the
// recording: the memory must still be allocated.
class GpuGraph {
 public:
  GpuGraph() = default;
  virtual ~GpuGraph() = default;
  GpuGraph(const GpuGraph&) = delete;
  GpuGraph& operator=(const GpuGraph&) = delete;
  // Asynchronous on `stream`, which belongs to the device of the recording.
  virtual void launch(GpuStream& stream) = 0;
};

// Page-locked host memory, accessible to direct copies from and to every GPU.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  virtual ~PinnedMemory() = default;
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  virtual std::byte* data() = 0;
  virtual std::int64_t bytes() const = 0;
};

enum class GpuCopy { HostToDevice, DeviceToHost, DeviceToDevice };

// One GPU. Streams and events belong to the device that created them and must be destroyed before
// it.
class GpuDevice {
 public:
  GpuDevice() = default;
  virtual ~GpuDevice() = default;
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  virtual const GpuProperties& facts() const = 0;
  virtual GpuMemory memory() = 0;
  // Callable from any thread; waits for no work and creates no context. For a lost GPU, returns the
  // last known values.
  virtual GpuHoldings holdings() const noexcept = 0;
  // The message of the error that ended the GPU's context; empty while the GPU works. Never blocks.
  virtual std::string lost() const = 0;

  // The stream on which tensors are created, filled, added and freed, so that these operations need
  // no synchronisation with one another.
  virtual GpuStream& main_stream() = 0;
  virtual std::unique_ptr<GpuStream> make_stream() = 0;
  virtual std::unique_ptr<GpuEvent> make_event() = 0;

  // Stream-ordered: the memory is usable by work queued on `stream` from now on. 256-byte aligned;
  // `bytes` > 0.
  virtual std::byte* allocate(std::int64_t bytes, GpuStream& stream) = 0;
  // Takes effect after the work already queued on `stream`.
  virtual void release(std::byte* memory, GpuStream& stream) noexcept = 0;
  // Returns the pool's unused memory to the GPU.
  virtual void trim_pool() = 0;
  // `bytes` > 0, on the GPU's NUMA node if the process may run there. The memory must be released
  // before the device is destroyed. Throws Error(OutOfMemory) naming the size.
  virtual std::unique_ptr<PinnedMemory> allocate_pinned(std::int64_t bytes) = 0;

  // Asynchronous if the host memory is pinned. Pageable host memory may be accessed before or after
  // the call returns: synchronise before touching it again.
  virtual void copy(GpuCopy direction, void* to, const void* from, std::int64_t bytes,
                    GpuStream& stream) = 0;
  // Copies from this GPU to `peer`, which must belong to the same backend. Without peer access, the
  // copy is staged through the host.
  virtual void copy_to_peer(GpuDevice& peer, std::byte* to, const std::byte* from,
                            std::int64_t bytes, GpuStream& stream) = 0;
  // Whether this GPU can read and write the memory of `peer`, and a switch for that access.
  // set_peer_access throws Error(Unsupported) where access is impossible.
  virtual bool can_access(const GpuDevice& peer) const = 0;
  virtual void set_peer_access(GpuDevice& peer, bool on) = 0;

  // Asynchronous on `stream`.
  virtual void fill(const GpuFill& fill, GpuStream& stream) = 0;
  virtual void add(const GpuSum& sum, GpuStream& stream) = 0;
  // Blocks until the result is available.
  virtual double norm(const GpuNorm& norm, GpuStream& stream) = 0;

  // Records the operations queued on `stream` by this thread from begin_recording() to
  // end_recording() instead of running them. Meanwhile nothing on the stream may be synchronised,
  // allocated or released, and no pageable memory copied. After an error, abandon_recording() ends
  // the recording; it does nothing where there is none.
  virtual void begin_recording(GpuStream& stream) = 0;
  virtual std::unique_ptr<GpuGraph> end_recording(GpuStream& stream) = 0;
  virtual void abandon_recording(GpuStream& stream) noexcept = 0;

  // Work queued from begin_interruptible() to end_interruptible() may be dropped once `stop` is
  // requested; its results are then undefined. Call both while no other thread uses the GPU.
  // end_interruptible() returns whether work was dropped; what is left of the work is then gone,
  // otherwise it runs. A GPU that completes all queued work ignores the calls.
  virtual void begin_interruptible(std::stop_token stop) { static_cast<void>(stop); }
  virtual bool end_interruptible() noexcept { return false; }

  // Layers of networks by the lab's kernels, matrix products and transfer measurements; the objects
  // live as long as the device.
  virtual GpuLayers& layers() = 0;
  virtual GpuMatmul& matmul() = 0;
  virtual GpuTransfers& transfers() = 0;
  // Layers of networks by NVIDIA's libraries (compute/gpu/library). The first call loads them,
  // which takes up to several seconds and GPU memory; a failed call is retried by the next one.
  // Throws Error(Unsupported) naming the library, the reason and the way out where they cannot be
  // used.
  virtual GpuLayers& library_layers() = 0;
};

class GpuBackend {
 public:
  GpuBackend() = default;
  virtual ~GpuBackend() = default;
  GpuBackend(const GpuBackend&) = delete;
  GpuBackend& operator=(const GpuBackend&) = delete;

  // cuda:0, cuda:1, ... in this order. The devices live as long as the backend.
  virtual std::vector<GpuDevice*> devices() = 0;
  virtual std::string driver_version() const = 0;   // newest CUDA version it supports: "13.0"
  virtual std::string runtime_version() const = 0;  // CUDA version that the backend was built with
};

// A GPU that the driver offers but the backend cannot use. facts.device is meaningless.
struct RejectedGpu {
  GpuProperties facts;
  std::string reason;
};

// The backend, or the reason why there is none.
struct GpuBackendResult {
  std::shared_ptr<GpuBackend> backend;
  std::string reason = LAB_TEXT("the GPUs have not been queried");
  // A driver is present and reported the failure itself: its report takes precedence over
  // conclusions from files.
  bool driver_answered = false;
  std::vector<RejectedGpu> refused = {};  // in addition to the backend's GPUs, or instead of them
};

// Returned by the shared object's function kGpuEntryName, which has C linkage.
struct GpuEntry {
  int interface_version = 0;  // checked before `open` is called
  // Texts are translated by the program's catalog. Throws nothing.
  void (*open)(GpuBackendResult&, CatalogSlot&) = nullptr;
};
using GpuEntryFunction = GpuEntry (*)();
inline constexpr const char* kGpuEntryName = "lab_gpu_entry";

}  // namespace lab
