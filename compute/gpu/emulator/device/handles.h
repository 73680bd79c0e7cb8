#pragma once
// Streams, events, graphs and page-locked memory of emulated GPUs.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/gpu/emulator/device/memory.h"
#include "compute/gpu/emulator/device/recording.h"
#include "compute/gpu/emulator/device/scheduler.h"
#include "compute/gpu/gpu_backend.h"

namespace lab::emulated {

// What the handles of a GPU share. Outlives them.
struct Core {
  Core(Device gpu, std::int64_t memory_bytes, bool checks, Scheduler& all, PinnedRegistry& locked)
      : device(gpu),
        checked(checks),
        scheduler(all),
        pinned(locked),
        health(gpu),
        memory(gpu, memory_bytes, checks, locked) {}

  const Device device;
  const bool checked;
  Scheduler& scheduler;
  PinnedRegistry& pinned;
  GpuHealth health;
  DeviceMemory memory;
  std::atomic<std::int64_t> pinned_bytes = 0;
  Interruption interruption;  // of the work that is queued now
};

class EmulatedStream final : public GpuStream {
 public:
  explicit EmulatedStream(Core& core)
      : core_(core), queue_(core.scheduler.make_queue(core.health)) {}
  ~EmulatedStream() override;
  void synchronise() override;
  void wait(const GpuEvent& event) override;
  void* native() override { return static_cast<GpuStream*>(this); }

  // Records the operation or queues it, to be dropped if the GPU's work may be, and returns the
  // position after it. Throws as the functions of GpuDevice.
  Position push(Operation operation);
  // Throws Error(Cuda) naming the rule if the stream is recorded.
  void require_unrecorded(const char* call, const char* rule) const;
  // Runs all queued work; errors are left to the GPU's health.
  void run_all() { core_.scheduler.run_until(core_.scheduler.end_of(queue_)); }
  const std::shared_ptr<Queue>& queue() const { return queue_; }
  Core& core() const { return core_; }

 private:
  Core& core_;
  std::shared_ptr<Queue> queue_;
};

class EmulatedEvent final : public GpuEvent {
 public:
  explicit EmulatedEvent(Core& core) : core_(core) {}
  void record(GpuStream& stream) override;
  // Runs the work before the event, so that a host that polls makes progress; returns whether it
  // had been done before.
  bool done() const override;
  void synchronise() const override;
  double seconds_since(const GpuEvent& earlier) const override;

 private:
  friend class EmulatedStream;
  // Throws Error(Cuda) if the event was recorded into a graph, where the host cannot wait for it.
  void require_unrecorded(const char* call) const;

  Core& core_;
  Position position_;                     // without a queue: never recorded
  std::shared_ptr<double> stamp_s_;       // host time, once the event is reached
  std::shared_ptr<Recording> recording_;  // the last record() was recorded
  RecordedBefore point_;
};

class EmulatedGraph final : public GpuGraph {
 public:
  EmulatedGraph(Core& core, std::vector<Operation> operations)
      : core_(core), operations_(std::make_shared<std::vector<Operation>>(std::move(operations))) {}
  void launch(GpuStream& stream) override;

 private:
  Core& core_;
  std::shared_ptr<const std::vector<Operation>> operations_;
};

// Valid because emulated GPUs create all of their streams.
inline EmulatedStream& raw(GpuStream& stream) {
  return static_cast<EmulatedStream&>(stream);
}

}  // namespace lab::emulated
