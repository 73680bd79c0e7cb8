#pragma once
// The seam between the lab and its GPUs. The CUDA half is a shared object of its own, opened when
// the lab looks for GPUs (gpu_loader.h), so that the program starts and works where there is no
// driver; tests put a GPU made of host memory behind the same classes.
//
// Threads  a device may be used from several threads; a stream, an event and pinned memory by one
//          at a time.
// Errors   every function throws Error(Cuda) naming the call and the GPU's answer,
//          Error(OutOfMemory) with the numbers, and Error(DeviceLost) with one sentence once an
//          error has ended the GPU's context; nothing can run there until the program is started
//          again. Functions marked noexcept ignore a lost GPU.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/core/device.h"
#include "compute/gpu/gpu_matmul.h"
#include "compute/gpu/gpu_ops.h"
#include "compute/gpu/gpu_transfers.h"

namespace lab {

// Raised with every change of a class or struct that crosses the seam.
inline constexpr int kGpuSeamVersion = 4;

// What stays true of a GPU. Reading it makes no context and wakes nothing more than listing does.
struct GpuProperties {
  Device device;
  std::string name;        // "NVIDIA H200"
  std::string pci_bus_id;  // as /sys/bus/pci spells it: "0000:01:00.0"
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  int copy_engines = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes_per_block = 0;  // with opt-in
  double clock_max_mhz = 0;                 // of the multiprocessors; 0: not told
  bool memory_pools = false;                // stream-ordered allocation
};

// What the GPU reports, of all programs, and this process's pool in it.
struct GpuMemory {
  std::int64_t free_bytes = 0;  // for any program
  std::int64_t total_bytes = 0;
  std::int64_t pool_reserved_bytes = 0;  // taken from the GPU, for this process alone
  std::int64_t pool_used_bytes = 0;      // of that: handed out and not released
};

// What this process has taken because of a GPU, its tensors' pool included.
struct GpuHoldings {
  std::int64_t pinned_bytes = 0;         // of main memory, by allocate_pinned()
  std::int64_t workspace_bytes = 0;      // of the GPU, by the matrix libraries, outside the pool
  std::int64_t pool_reserved_bytes = 0;  // of the GPU, by the pool
};

class GpuEvent;

// Work in order. Ends with the object, after what was queued; see GpuDevice for who may use it.
class GpuStream {
 public:
  GpuStream() = default;
  virtual ~GpuStream() = default;
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;
  // Waits on the host until all that was queued has run; errors of that work are thrown here.
  virtual void synchronise() = 0;
  // What is queued from now on starts after the recorded event, also of another GPU.
  virtual void wait(const GpuEvent& event) = 0;
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
  // Seconds from `earlier` to this one; both have happened. Resolution is about half a microsecond.
  virtual double seconds_since(const GpuEvent& earlier) const = 0;
};

// Host memory that every GPU copies from and to directly.
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

// One GPU. Streams and events belong to the device that made them and must end before it.
class GpuDevice {
 public:
  GpuDevice() = default;
  virtual ~GpuDevice() = default;
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  virtual const GpuProperties& facts() const = 0;
  virtual GpuMemory memory() = 0;
  // From any thread; waits for no work and makes no context. Of a lost GPU the last numbers.
  virtual GpuHoldings holdings() const noexcept = 0;
  // The sentence of the error that ended the GPU's context; empty while it works. Never blocks.
  virtual std::string lost() const = 0;

  // Where tensors are made, filled, added and freed, so that those need no waiting for each other.
  virtual GpuStream& main_stream() = 0;
  virtual std::unique_ptr<GpuStream> make_stream() = 0;
  virtual std::unique_ptr<GpuEvent> make_event() = 0;

  // Stream-ordered: usable by work queued on `stream` from now on; 256-byte aligned. `bytes` > 0.
  virtual std::byte* allocate(std::int64_t bytes, GpuStream& stream) = 0;
  // After what is queued on `stream`.
  virtual void release(std::byte* memory, GpuStream& stream) noexcept = 0;
  // Gives the pool's unused memory back to the GPU.
  virtual void trim_pool() = 0;
  // Throws Error(OutOfMemory) naming the size. `bytes` > 0. Must end before the device.
  virtual std::unique_ptr<PinnedMemory> allocate_pinned(std::int64_t bytes) = 0;

  // Asynchronous where the host side is pinned; pageable host memory may be read or written before
  // or after the return, so synchronise before it is touched again.
  virtual void copy(GpuCopy direction, void* to, const void* from, std::int64_t bytes,
                    GpuStream& stream) = 0;
  // From this GPU to `peer` of the same back end; without peer access it goes through the host.
  virtual void copy_to_peer(GpuDevice& peer, std::byte* to, const std::byte* from,
                            std::int64_t bytes, GpuStream& stream) = 0;
  // Whether this GPU can read and write `peer`'s memory, and whether it does from now on. Throws
  // Error(Unsupported) where it cannot.
  virtual bool can_access(const GpuDevice& peer) const = 0;
  virtual void set_peer_access(GpuDevice& peer, bool on) = 0;

  // Asynchronous on `stream`.
  virtual void fill(const GpuFill& fill, GpuStream& stream) = 0;
  virtual void add(const GpuSum& sum, GpuStream& stream) = 0;
  // Waits for the result.
  virtual double norm(const GpuNorm& norm, GpuStream& stream) = 0;

  // Matrix products, and what measuring transfers needs; both live as long as the device.
  virtual GpuMatmul& matmul() = 0;
  virtual GpuTransfers& transfers() = 0;
};

class GpuBackend {
 public:
  GpuBackend() = default;
  virtual ~GpuBackend() = default;
  GpuBackend(const GpuBackend&) = delete;
  GpuBackend& operator=(const GpuBackend&) = delete;

  // cuda:0, cuda:1, ... in this order. The devices live as long as the back end.
  virtual std::vector<GpuDevice*> devices() = 0;
  virtual std::string driver_version() const = 0;   // of CUDA, as the driver supports it: "13.0"
  virtual std::string runtime_version() const = 0;  // that the back end was built with
};

// A GPU that the driver offers and the back end cannot compute on; its facts' device means
// nothing.
struct RefusedGpu {
  GpuProperties facts;
  std::string reason;
};

// The back end, or why there is none.
struct GpuOffer {
  std::shared_ptr<GpuBackend> backend;
  std::string reason = "no one asked for the GPUs";
  // A driver was there and said no itself: its word counts more than what files show.
  bool driver_answered = false;
  std::vector<RefusedGpu> refused = {};  // beside the back end's, or instead of them
};

// What the shared object hands out under kGpuEntryName, with C linkage.
struct GpuEntry {
  int seam_version = 0;               // checked before `open` is called
  void (*open)(GpuOffer&) = nullptr;  // throws nothing
};
using GpuEntryFunction = GpuEntry (*)();
inline constexpr const char* kGpuEntryName = "lab_gpu_entry";

}  // namespace lab
