#include "compute/gpu/emulator/device/handles.h"

#include <chrono>
#include <utility>

#include "compute/gpu/emulator/fault.h"

namespace lab::emulated {
namespace {

double host_time_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace

EmulatedStream::~EmulatedStream() {
  if (queue_->recording) queue_->recording->abandon();
  run_all();
}

void EmulatedStream::require_unrecorded(const char* call, const char* rule) const {
  core_.health.require_usable();
  if (queue_->recording) throw queue_->recording->broken(call, rule);
}

void EmulatedStream::synchronise() {
  require_unrecorded("synchronise", "a stream that is recorded cannot be synchronised");
  run_all();
  core_.health.require_usable();
}

Position EmulatedStream::push(Operation operation) {
  core_.health.require_usable();
  if (!queue_->recording) {
    operation.interruption = core_.interruption;
    return core_.scheduler.push(queue_, std::move(operation));
  }
  queue_->recording->add(*queue_, std::move(operation));
  return {};
}

void EmulatedStream::wait(const GpuEvent& event) {
  core_.health.require_usable();
  const auto& other = static_cast<const EmulatedEvent&>(event);
  if (other.recording_) {
    if (!other.recording_->active()) {
      throw gpu_failure(core_.device, "wait",
                        "cudaErrorCapturedEvent (the event is part of a graph)");
    }
    if (queue_->recording && queue_->recording != other.recording_) {
      throw queue_->recording->broken("wait", "the event belongs to another recording");
    }
    return other.recording_->wait(queue_, other.point_);
  }
  if (!other.position_.queue) return;  // never recorded
  if (queue_->recording) {
    throw queue_->recording->broken("wait", "the event was recorded outside of the recording");
  }
  core_.scheduler.push(queue_, {"wait", [](const Interruption&) {}}, other.position_);
}

void EmulatedEvent::record(GpuStream& stream) {
  EmulatedStream& in = raw(stream);
  core_.health.require_usable();
  if (&in.core() != &core_) {
    throw gpu_failure(core_.device, "record",
                      "cudaErrorInvalidResourceHandle (the event and the stream are on different "
                      "GPUs)");
  }
  recording_ = in.queue()->recording;
  if (recording_) {
    point_ = recording_->point_in(*in.queue());
    return;
  }
  const auto stamp_s = std::make_shared<double>(0);
  position_ = core_.scheduler.push(
      in.queue(), {"record", [stamp_s](const Interruption&) { *stamp_s = host_time_s(); }});
  stamp_s_ = stamp_s;
}

void EmulatedEvent::require_unrecorded(const char* call) const {
  core_.health.require_usable();
  if (!recording_) return;
  if (recording_->active()) {
    throw recording_->broken(call, "the host cannot wait for an event that is recorded");
  }
  throw gpu_failure(core_.device, call, "cudaErrorCapturedEvent (the event is part of a graph)");
}

bool EmulatedEvent::done() const {
  require_unrecorded("done");
  if (core_.scheduler.reached(position_)) return true;
  core_.scheduler.run_towards(position_);
  core_.health.require_usable();
  return false;
}

void EmulatedEvent::synchronise() const {
  require_unrecorded("synchronise");
  core_.scheduler.run_until(position_);
  core_.health.require_usable();
}

double EmulatedEvent::seconds_since(const GpuEvent& earlier) const {
  const auto& first = static_cast<const EmulatedEvent&>(earlier);
  require_unrecorded("seconds_since");
  first.require_unrecorded("seconds_since");
  if (!stamp_s_ || !first.stamp_s_) {
    throw gpu_failure(core_.device, "seconds_since",
                      "cudaErrorInvalidResourceHandle (an event was never recorded)");
  }
  if (!core_.scheduler.reached(position_) || !core_.scheduler.reached(first.position_)) {
    throw gpu_failure(core_.device, "seconds_since",
                      "cudaErrorNotReady (the work before an event has not run)");
  }
  return *stamp_s_ - *first.stamp_s_;
}

void EmulatedGraph::launch(GpuStream& stream) {
  EmulatedStream& in = raw(stream);
  if (&in.core() != &core_) {
    throw gpu_failure(core_.device, "launch",
                      "cudaErrorInvalidResourceHandle (the graph and the stream are on different "
                      "GPUs)");
  }
  in.push({"graph", [operations = operations_](const Interruption& interruption) {
             for (const Operation& operation : *operations) {
               if (interruption.drops()) return;
               try {
                 operation.run(interruption);
               } catch (const simt::Fault& fault) {
                 throw simt::Fault(fault.kind(), operation.name + ": " + fault.what());
               }
             }
           }});
}

}  // namespace lab::emulated
