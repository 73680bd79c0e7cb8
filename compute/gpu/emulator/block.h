#pragma once
// Execution of one block: its threads as fibers, its barriers and its warps.
#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/gpu/emulator/fault.h"
#include "compute/gpu/emulator/fiber.h"
#include "compute/gpu/emulator/launch.h"
#include "compute/gpu/emulator/memory/global_memory.h"
#include "compute/gpu/emulator/memory/shadow.h"
#include "compute/gpu/emulator/memory/shared_memory.h"
#include "compute/gpu/emulator/where.h"

namespace lab::simt {

class WarpGroup;

// One lane's arguments and results of a warp operation. Lanes with the same operation and mask
// execute it together; the last lane to arrive executes it for all of them.
struct WarpRequest {
  void (*operation)(WarpGroup&) = nullptr;
  const char* name = "";
  std::uint32_t mask = 0;
  Where where;
  std::array<std::uint32_t, 10> in{};
  std::array<std::uint32_t, 4> out{};
  SharedArray* array = nullptr;  // array of a row address
  std::ptrdiff_t offset = 0;
  const void* arguments = nullptr;  // of operations with more than these, in the lane's stack
};

// 16 bytes of a box on their way to shared memory.
struct BoxPiece {
  SharedArray* array;
  std::ptrdiff_t offset;
  std::array<std::byte, 16> bytes;
};

// A barrier of copy_engine.h.
struct PhaseBarrier {
  int arrivals = 0;
  int missing = 0;  // of this phase
  std::int64_t expected_bytes = 0;
  int ended_phases = 0;
  std::vector<BoxPiece> pieces = {};

  bool has_ended(int parity) const { return ended_phases % 2 != parity; }
};

struct SimtThread {
  enum class State { Ready, AtBarrier, AtPhase, InWarpOperation, Left };

  Index3 index;
  ThreadTime time;
  State state = State::Ready;
  Where barrier;  // also of a wait for a phase
  WarpRequest request;
  AsyncCopies copies;
  Fiber* fiber = nullptr;  // null before it begins and after it has left
  std::function<void()> entry;
};

// The lanes of one warp that execute an operation together.
class WarpGroup {
 public:
  WarpGroup(std::span<SimtThread> warp, std::uint32_t active) : warp_(warp), active_(active) {}
  bool is_active(int lane) const { return (active_ >> lane & 1) != 0; }
  std::uint32_t active() const { return active_; }
  SimtThread& thread(int lane) { return warp_[static_cast<std::size_t>(lane)]; }
  WarpRequest& request(int lane) { return thread(lane).request; }
  template <typename Visit>
  void each(const Visit& visit) {
    for (int lane = 0; lane < kWarpLanes; ++lane)
      if (is_active(lane)) visit(lane);
  }
  // Throws Fault unless all 32 lanes participate.
  void require_all(const char* name) const;

 private:
  std::span<SimtThread> warp_;
  std::uint32_t active_;
};

// The fibers of an OS thread, created on demand: a block whose threads never wait needs one.
class FiberPool {
 public:
  Fiber& take();
  void give_back(Fiber& fiber) { free_.push_back(&fiber); }

 private:
  std::vector<std::unique_ptr<Fiber>> all_;
  std::vector<Fiber*> free_;
};

class Block {
 public:
  Block(const LaunchOptions& options, Index3 index, SharedMemory& shared, GlobalMemory& global,
        FiberPool& fibers);

  // Runs until every thread has returned. Throws the first fault after all fibers have ended.
  void run(const std::function<void()>& body);

  // The remaining functions are called by the running thread.
  SimtThread& self() { return *running_; }
  Index3 index() const { return index_; }
  const LaunchOptions& options() const { return options_; }
  // Index of the running thread within the launch.
  std::uint32_t thread_of_launch() const;
  SharedMemory& shared() { return shared_; }
  GlobalMemory& global() { return global_; }
  void sync_threads(const Where& where);
  // The barrier at an address of shared memory, an array and an offset in bytes.
  PhaseBarrier& barrier(const std::pair<SharedArray*, std::ptrdiff_t>& at) { return phases_[at]; }
  void wait_for_phase(const PhaseBarrier& barrier, int parity, const Where& where);
  // Ends the barrier's phase if nothing is missing: its pieces arrive.
  void end_phase(PhaseBarrier& barrier);
  // Waits for the other lanes; returns self()'s request with `out` filled in.
  const WarpRequest& meet(const WarpRequest& request);

 private:
  struct Cancelled {};

  void thread_main(SimtThread& thread, const std::function<void()>& body);
  void enter(SimtThread& thread);
  bool run_ready_threads();
  void open_barrier();
  void cancel();
  void wait(SimtThread::State state);
  void fail(const SimtThread* thread, FaultKind kind, const std::string& what);
  std::span<SimtThread> warp_of(const SimtThread& thread);
  void try_operation(const SimtThread& leader);
  void after_leaving(const SimtThread& left);
  std::string waiting() const;

  const LaunchOptions& options_;
  Index3 index_;
  SharedMemory& shared_;
  GlobalMemory& global_;
  FiberPool& fibers_;
  std::vector<SimtThread> threads_;
  std::map<std::pair<SharedArray*, std::ptrdiff_t>, PhaseBarrier> phases_;
  SimtThread* running_ = nullptr;
  std::exception_ptr failure_;
  bool cancelled_ = false;
};

// Returns the block of the calling thread; throws std::logic_error outside launch().
Block& current_block();

}  // namespace lab::simt
