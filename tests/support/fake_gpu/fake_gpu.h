#pragma once
// GPUs emulated in host memory, for tests of all code above the backend interface. They compute
// with the CPU implementations, reject addresses that they did not allocate, and inject faults on
// request.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compute/gpu/gpu_backend.h"
#include "compute/gpu/gpu_failures.h"
#include "tests/support/fake_gpu/fake_matmul.h"
#include "tests/support/fake_gpu/fake_transfers.h"

namespace lab::test {

// Faults to inject into subsequent calls. An operation is named after its virtual function.
struct FakeFaults {
  std::string fails;         // this operation throws Error(Cuda) once
  int fails_after = 0;       // calls of `fails` that succeed first
  std::string loses;         // this operation loses the context
  int loses_after = 0;       // calls of `loses` that succeed first
  bool unavailable = false;  // another process uses the GPU exclusively
  bool no_pinned_memory = false;
  bool no_peer_access = false;
  bool short_copies = false;   // the last byte is not copied
  bool gates_give_up = false;  // as if the host had not opened them in time
  double copies_take_s = 0;    // host time per copy
};

// Simulated cost of work, as measured by events.
struct FakeCosts {
  double call_s = 2e-6;
  double link_bytes_per_s = 50e9;
  double memory_bytes_per_s = 4e12;
  double l2_bytes_per_s = 0;  // if not 0: of arrays that fit into L2 together
  double hop_s = 500e-9;
  double flop_per_s = 4e13, peak_flop_per_s = 5e13;  // achieved by products, and the peak
};

class FakeGpu final : public GpuDevice {
 public:
  FakeGpu(int index, std::int64_t memory_bytes);
  ~FakeGpu() override;

  FakeFaults faults;
  FakeCosts costs;
  // Bytes allocated now, pinned allocations made, and fill calls.
  std::int64_t used_bytes() const;
  int pinned_pieces() const { return pinned_pieces_; }
  int fills() const { return fills_; }
  // Reported workspace of the matrix libraries, and unused memory that the pool retains.
  std::int64_t workspace_bytes = 0, pool_kept_bytes = 0;
  void set_l2_bytes(std::int64_t bytes) { facts_.l2_bytes = bytes; }

  const GpuProperties& facts() const override { return facts_; }
  GpuMemory memory() override;
  GpuHoldings holdings() const noexcept override;
  std::string lost() const override { return health_.lost(); }
  GpuStream& main_stream() override { return *main_stream_; }
  std::unique_ptr<GpuStream> make_stream() override;
  std::unique_ptr<GpuEvent> make_event() override;
  std::byte* allocate(std::int64_t bytes, GpuStream& stream) override;
  void release(std::byte* memory, GpuStream& stream) noexcept override;
  void trim_pool() override;
  std::unique_ptr<PinnedMemory> allocate_pinned(std::int64_t bytes) override;
  void copy(GpuCopy direction, void* to, const void* from, std::int64_t bytes,
            GpuStream& stream) override;
  void copy_to_peer(GpuDevice& peer, std::byte* to, const std::byte* from, std::int64_t bytes,
                    GpuStream& stream) override;
  bool can_access(const GpuDevice& peer) const override;
  void set_peer_access(GpuDevice& peer, bool on) override;
  void fill(const GpuFill& fill, GpuStream& stream) override;
  void add(const GpuSum& sum, GpuStream& stream) override;
  double norm(const GpuNorm& norm, GpuStream& stream) override;
  void begin_recording(GpuStream& stream) override;
  std::unique_ptr<GpuGraph> end_recording(GpuStream& stream) override;
  void abandon_recording(GpuStream& stream) noexcept override;
  GpuLayers& layers() override;
  GpuLayers& library_layers() override;
  FakeMatmul& matmul() override { return matmul_; }
  GpuTransfers& transfers() override { return transfers_; }

  // Applies the injected faults to one call; throws if a fault requires it.
  void enter(const std::string& operation);
  // Fails the test unless the range belongs to this GPU.
  void require_mine(const void* memory, std::int64_t bytes) const;
  // Copies the bytes, subject to the injected faults.
  void move_bytes(void* to, const void* from, std::int64_t bytes) const;
  // Register and unregister pinned memory of this GPU for its lifetime.
  void add_pinned(const std::byte* memory, std::int64_t bytes);
  void drop_pinned(const std::byte* memory);

 private:
  bool is_pinned(const void* memory) const;
  bool is_mine(const void* memory, std::int64_t bytes) const;

  GpuProperties facts_;
  GpuHealth health_;
  std::unique_ptr<GpuStream> main_stream_;
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::vector<std::byte>> live_;
  std::int64_t used_bytes_ = 0;
  std::map<const std::byte*, std::int64_t> pinned_;
  int pinned_pieces_ = 0;
  int fills_ = 0;
  FakeMatmul matmul_{*this};
  FakeTransfers transfers_{*this};
};

class FakeBackend final : public GpuBackend {
 public:
  FakeBackend(int gpus, std::int64_t memory_bytes);
  FakeGpu& gpu(int index) { return *gpus_.at(static_cast<std::size_t>(index)); }
  std::vector<GpuDevice*> devices() override;
  std::string driver_version() const override { return "13.1"; }
  std::string runtime_version() const override { return "13.0"; }

 private:
  std::vector<std::unique_ptr<FakeGpu>> gpus_;
};

// Describes "Old GPU" at this PCI address, which the backend rejects for `reason`.
RejectedGpu rejected_gpu(const std::string& pci_bus_id, const std::string& reason);

// Returns a factory for MachineOptions::open_gpus.
std::function<GpuBackendResult()> backend_opener(std::shared_ptr<FakeBackend> backend);

}  // namespace lab::test
