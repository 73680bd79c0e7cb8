#pragma once
// Times what runs on a GPU by its own events, or by the host's clock where events cannot.
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/gpu/gpu_backend.h"
#include "compute/gpu/gpu_transfers.h"
#include "compute/machine/thread_pool.h"

namespace lab {

// Streams of one or more GPUs, and the time that work on them takes from the moment when all of it
// is queued: a gate holds the first stream, the others wait for its first event. Source  method:
// NVIDIA nvbandwidth
class GatedClock {
 public:
  // Streams of one GPU, which must outlive it.
  GatedClock(GpuDevice& gpu, int streams);
  // Stream i is of GPUs[i]; at least one. The first GPU has the gate and tells the time: its
  // first stream waits for those of other GPUs, which takes a microsecond or two.
  explicit GatedClock(const std::vector<GpuDevice*>& gpus);
  // Opens the gate and waits for what is queued.
  ~GatedClock();
  GatedClock(const GatedClock&) = delete;
  GatedClock& operator=(const GatedClock&) = delete;

  GpuStream& stream(int i) { return *streams_[static_cast<std::size_t>(i)]; }

  // queue(i) puts the work of stream i on it; see GpuGate for what it must not. Seconds until the
  // last stream is done.
  double gated(FunctionRef<void(int stream)> queue);
  // Seconds that `times` runs together take, each queued on the first stream.
  double gated_runs(std::int64_t times, FunctionRef<void(GpuStream& stream)> queue_one);
  // From the call of queue(0) to the end of the first stream, by the host's clock: with the time
  // that queueing takes.
  double by_host(FunctionRef<void(int stream)> queue);
  // The event before all gated work.
  const GpuEvent& begin() const { return *begin_; }

 private:
  const std::vector<GpuDevice*> gpus_;
  std::vector<std::unique_ptr<GpuStream>> streams_;
  std::vector<std::unique_ptr<GpuEvent>> ends_;
  std::unique_ptr<GpuEvent> begin_;
  std::unique_ptr<GpuGate> gate_;
};

}  // namespace lab
