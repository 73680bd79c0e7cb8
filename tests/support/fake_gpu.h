#pragma once
// GPUs made of host memory, for tests of everything above the seam: they compute with the CPU's
// own functions, refuse addresses that are not theirs, and fail when a test asks for it.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compute/gpu/gpu_backend.h"
#include "compute/gpu/gpu_failures.h"
#include "tests/support/fake_matmul.h"
#include "tests/support/fake_transfers.h"

namespace lab::test {

// What the next calls do wrong. An operation's name is that of the virtual function.
struct FakeFaults {
  std::string fails;    // this operation throws Error(Cuda) once
  std::string loses;    // this operation ends the context
  int loses_after = 0;  // so many calls of `loses` still succeed
  bool no_pinned_memory = false;
  bool no_peer_access = false;
  bool short_copies = false;   // the last byte does not arrive
  bool gates_give_up = false;  // as if the host had not opened them in time
  double copies_take_s = 0;    // each keeps the host waiting
};

// What work takes in the time that events tell.
struct FakeCosts {
  double call_s = 2e-6;
  double link_bytes_per_s = 50e9;
  double memory_bytes_per_s = 4e12;
  double hop_s = 500e-9;
  double flop_per_s = 4e13, peak_flop_per_s = 5e13;  // of products, and at most
};

class FakeGpu final : public GpuDevice {
 public:
  FakeGpu(int index, std::int64_t memory_bytes);
  ~FakeGpu() override;

  FakeFaults faults;
  FakeCosts costs;
  // What the GPU holds now, how often pinned memory was taken, and how many bytes were copied each
  // way.
  std::int64_t used_bytes() const;
  int pinned_pieces() const { return pinned_pieces_; }
  int fills() const { return fills_; }
  // What its matrix libraries would have taken, and its pool kept beside what is used.
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
  FakeMatmul& matmul() override { return matmul_; }
  GpuTransfers& transfers() override { return transfers_; }

  // The faults of a call; throws as they say.
  void enter(const std::string& operation);
  // Fails the test for memory that is not the GPU's own.
  void require_mine(const void* memory, std::int64_t bytes) const;
  // A copy, with what the faults make of it.
  void move_bytes(void* to, const void* from, std::int64_t bytes) const;
  // Pinned memory made by this GPU, from its making to its end.
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

// "Old GPU" at that address, which the back end does not take.
RefusedGpu refused_gpu(const std::string& pci_bus_id, const std::string& reason);

// For MachineOptions::open_gpus.
std::function<GpuOffer()> offer_of(std::shared_ptr<FakeBackend> backend);

}  // namespace lab::test
