#pragma once
// Times GPU work with GPU events, or with the host's clock where events are not applicable.
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/gpu/gpu_backend.h"
#include "compute/gpu/gpu_transfers.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// Streams of one or more GPUs, and the time of work on them, excluding queueing: a gate holds back
// the first stream until everything is queued, and the other streams wait for its first event.
// Source  method: NVIDIA nvbandwidth
class GatedClock {
 public:
  // Streams of one GPU, which must outlive this object.
  GatedClock(GpuDevice& gpu, int streams);
  // Stream i runs on gpus[i]; at least one. The first GPU has the gate and the reference events.
  // Its first stream waits for the streams of other GPUs, which takes a microsecond or two.
  explicit GatedClock(const std::vector<GpuDevice*>& gpus);
  // Opens the gate and waits for all queued work.
  ~GatedClock();
  GatedClock(const GatedClock&) = delete;
  GatedClock& operator=(const GatedClock&) = delete;

  GpuStream& stream(int i) { return *streams_[static_cast<std::size_t>(i)]; }

  // Operations that may be queued on each stream of a GPU by one call of gated().
  static constexpr int kMaxOperations = kMaxBehindGate - 8;  // the gate, events and waits

  // Calls queue(i) to queue the work of stream i, at most kMaxOperations, and returns the seconds
  // until the last stream is done. GpuGate lists what must not be queued.
  double gated(FunctionRef<void(int stream)> queue);
  // Returns the total seconds of `times` runs, each queued on the first stream.
  double gated_runs(std::int64_t times, FunctionRef<void(GpuStream& stream)> queue_one);
  // Returns the seconds from the call of queue(0) to the end of the first stream by the host's
  // clock, including queueing.
  double by_host(FunctionRef<void(int stream)> queue);
  // Event recorded before all gated work.
  const GpuEvent& begin() const { return *begin_; }

 private:
  const std::vector<GpuDevice*> gpus_;
  std::vector<std::unique_ptr<GpuStream>> streams_;
  std::vector<std::unique_ptr<GpuEvent>> ends_;
  std::unique_ptr<GpuEvent> begin_;
  std::unique_ptr<GpuGate> gate_;
};

}  // namespace lab
