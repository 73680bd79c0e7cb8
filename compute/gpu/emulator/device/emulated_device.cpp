#include "compute/gpu/emulator/device/emulated_device.h"

#include <cstring>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/events/event.h"
#include "compute/core/language.h"
#include "compute/gpu/emulator/device/emulated_gpus.h"
#include "compute/gpu/emulator/fault.h"
#include "compute/gpu/emulator/launch.h"

namespace lab::emulated {
namespace {

class EmulatedPinned final : public PinnedMemory {
 public:
  EmulatedPinned(Core& core, std::int64_t bytes)
      : core_(core), bytes_(bytes), memory_(allocate_block(bytes)) {
    if (!memory_) throw pinned_out_of_memory(bytes, "cudaErrorMemoryAllocation (out of memory)");
    core_.pinned.add(memory_.get(), bytes);
    core_.pinned_bytes += bytes;
  }
  ~EmulatedPinned() override {
    core_.scheduler.run_all();  // as CUDA waits for the GPUs
    core_.pinned.remove(memory_.get());
    core_.pinned_bytes -= bytes_;
  }
  std::byte* data() override { return memory_.get(); }
  std::int64_t bytes() const override { return bytes_; }

 private:
  Core& core_;
  const std::int64_t bytes_;
  const HostBlock memory_;
};

// A GPU's end of a copy when the work runs.
void require_allocated(const DeviceMemory& memory, const void* at, std::int64_t bytes) {
  if (memory.allocated(at, bytes)) return;
  throw simt::Fault(simt::FaultKind::OutOfBounds,
                    "memory that was released after the copy was queued");
}

GpuProperties facts_of(int index, std::int64_t memory_bytes) {
  GpuProperties facts;
  facts.device = emulated_gpu(index);
  facts.ordinal = index;
  facts.name = "Emulated GPU";
  facts.compute_major = 8;
  facts.multiprocessors = 1;
  facts.memory_bytes = memory_bytes;
  facts.shared_bytes_per_block = std::int64_t{227} << 10;
  facts.memory_pools = true;
  return facts;
}

}  // namespace

EmulatedDevice::EmulatedDevice(int index, const EmulatedGpuOptions& options, Scheduler& scheduler,
                               PinnedRegistry& pinned)
    : facts_(facts_of(index, options.memory_bytes)),
      peer_access_(options.peer_access),
      core_(facts_.device, options.memory_bytes, options.checked, scheduler, pinned),
      main_stream_(std::make_unique<EmulatedStream>(core_)),
      layers_(options.layers ? options.layers(*this) : make_layers(*this)),
      open_library_(options.library) {}

GpuMemory EmulatedDevice::memory() {
  core_.health.require_usable();
  return core_.memory.read();
}

GpuHoldings EmulatedDevice::holdings() const noexcept {
  return {core_.pinned_bytes, 0, core_.memory.used_bytes()};
}

std::unique_ptr<GpuStream> EmulatedDevice::make_stream() {
  core_.health.require_usable();
  return std::make_unique<EmulatedStream>(core_);
}

std::unique_ptr<GpuEvent> EmulatedDevice::make_event() {
  core_.health.require_usable();
  return std::make_unique<EmulatedEvent>(core_);
}

EmulatedStream& EmulatedDevice::own(GpuStream& stream, const char* call) const {
  EmulatedStream& found = raw(stream);
  core_.health.require_usable();
  if (&found.core() == &core_) return found;
  throw gpu_failure(core_.device, call,
                    "cudaErrorInvalidResourceHandle (the stream belongs to " +
                        to_string(found.core().device) + ")");
}

// --- memory ---------------------------------------------------------------------------------

std::byte* EmulatedDevice::allocate(std::int64_t bytes, GpuStream& stream) {
  EmulatedStream& in = own(stream, "allocate");
  in.require_unrecorded("allocate", "memory cannot be allocated in a recording");
  std::byte* memory = core_.memory.allocate(bytes);
  if (memory == nullptr) {
    in.synchronise();  // memory released on the stream becomes free
    memory = core_.memory.allocate(bytes);
  }
  if (memory == nullptr) throw gpu_out_of_memory(core_.device, bytes, core_.memory.read());
  return memory;
}

void EmulatedDevice::release(std::byte* memory, GpuStream& stream) noexcept {
  const std::shared_ptr<Queue>& queue = raw(stream).queue();
  if (queue->recording) {
    queue->recording->broken("release", "memory cannot be released in a recording");
  }
  if (!core_.memory.mark_released(memory)) {
    core_.health.lose("release", "memory that is not allocated, or released before");
    return;
  }
  if (!core_.health.lost().empty()) return core_.memory.free(memory);
  core_.scheduler.push(
      queue, {"release", [this, memory](const Interruption&) { core_.memory.free(memory); }});
}

std::unique_ptr<PinnedMemory> EmulatedDevice::allocate_pinned(std::int64_t bytes) {
  core_.health.require_usable();
  return std::make_unique<EmulatedPinned>(core_, bytes);
}

// --- copies ---------------------------------------------------------------------------------

void EmulatedDevice::require_usable_range(const DeviceMemory& memory, const void* at,
                                          std::int64_t bytes, const char* call) const {
  if (memory.usable(at, bytes)) return;
  throw gpu_failure(core_.device, call,
                    "cudaErrorInvalidValue (" + std::to_string(bytes) +
                        " bytes are not within one allocation of the GPU)");
}

void EmulatedDevice::copy(GpuCopy direction, void* to, const void* from, std::int64_t bytes,
                          GpuStream& stream) {
  EmulatedStream& in = own(stream, "copy");
  const bool writes_gpu = direction != GpuCopy::DeviceToHost;
  const bool reads_gpu = direction != GpuCopy::HostToDevice;
  if (writes_gpu) require_usable_range(core_.memory, to, bytes, "copy");
  if (reads_gpu) require_usable_range(core_.memory, from, bytes, "copy");
  const void* host = !writes_gpu ? to : !reads_gpu ? from : nullptr;
  if (host != nullptr && core_.memory.contains(host)) {
    throw gpu_failure(core_.device, "copy", "cudaErrorInvalidValue (not an address of the host)");
  }
  const bool pinned = host != nullptr && core_.pinned.holds(host, bytes);
  if (host != nullptr && !pinned) {
    const auto& recording = in.queue()->recording;
    if (recording)
      throw recording->broken("copy", "pageable memory cannot be copied in a recording");
  }
  in.push(
      {"copy", [this, writes_gpu, reads_gpu, pinned, to, from, bytes, host](const Interruption&) {
         if (writes_gpu) require_allocated(core_.memory, to, bytes);
         if (reads_gpu) require_allocated(core_.memory, from, bytes);
         if (pinned && !core_.pinned.holds(host, bytes)) {
           throw simt::Fault(simt::FaultKind::OutOfBounds,
                             "page-locked memory that was released before the copy ran");
         }
         std::memmove(to, from, static_cast<std::size_t>(bytes));
       }});
}

void EmulatedDevice::copy_to_peer(GpuDevice& peer, std::byte* to, const std::byte* from,
                                  std::int64_t bytes, GpuStream& stream) {
  const DeviceMemory& target = static_cast<EmulatedDevice&>(peer).core_.memory;
  core_.health.require_usable();
  require_usable_range(core_.memory, from, bytes, "copy_to_peer");
  require_usable_range(target, to, bytes, "copy_to_peer");
  raw(stream).push({"copy_to_peer", [this, &target, to, from, bytes](const Interruption&) {
                      require_allocated(core_.memory, from, bytes);
                      require_allocated(target, to, bytes);
                      std::memmove(to, from, static_cast<std::size_t>(bytes));
                    }});
}

void EmulatedDevice::set_peer_access(GpuDevice& peer, bool on) {
  core_.health.require_usable();
  if (!can_access(peer)) throw no_peer_access(core_.device, peer.facts().device);
  core_.memory.set_access(static_cast<EmulatedDevice&>(peer).core_.memory, on);
}

// --- work -----------------------------------------------------------------------------------

void EmulatedDevice::launch(const char* name, simt::Extent grid, simt::Extent block,
                            std::function<void()> body, GpuStream& stream,
                            std::size_t dynamic_shared_bytes) {
  own(stream, name)
      .push({name, [this, grid, block, body = std::move(body),
                    dynamic_shared_bytes](const Interruption& interruption) {
               simt::launch({.grid = grid,
                             .block = block,
                             .dynamic_shared_bytes = dynamic_shared_bytes,
                             .space = &core_.memory,
                             .check_races = core_.checked,
                             .interrupted = [&] { return interruption.drops(); }},
                            body);
             }});
}

void EmulatedDevice::begin_interruptible(std::stop_token stop) {
  core_.interruption = Interruption(std::move(stop));
}

bool EmulatedDevice::end_interruptible() noexcept {
  if (!std::exchange(core_.interruption, {}).end()) return false;
  core_.scheduler.run_all(&core_.health);  // drops them
  return true;
}

void EmulatedDevice::begin_recording(GpuStream& stream) {
  EmulatedStream& in = own(stream, "begin_recording");
  in.require_unrecorded("begin_recording", "the stream is already recorded");
  in.queue()->recording = std::make_shared<Recording>(core_.device, in.queue());
}

std::unique_ptr<GpuGraph> EmulatedDevice::end_recording(GpuStream& stream) {
  EmulatedStream& in = own(stream, "end_recording");
  const std::shared_ptr<Recording> recording = in.queue()->recording;
  if (!recording) {
    throw gpu_failure(core_.device, "end_recording",
                      "cudaErrorIllegalState (the stream is not recorded)");
  }
  return std::make_unique<EmulatedGraph>(core_, recording->end(*in.queue()));
}

void EmulatedDevice::abandon_recording(GpuStream& stream) noexcept {
  const std::shared_ptr<Recording> recording = raw(stream).queue()->recording;
  if (recording) recording->abandon();
}

GpuTransfers& EmulatedDevice::transfers() {
  throw Error(Errc::Unsupported, tr(kNeverTimed));
}

GpuLayers& EmulatedDevice::library_layers() {
  if (!open_library_) {
    throw Error(Errc::Unsupported,
                tr("emulated GPUs compute with the lab's kernels only; choose --kernels lab"));
  }
  const std::lock_guard lock(library_mutex_);
  if (!library_layers_) library_layers_ = open_library_(*this, *layers_);
  return *library_layers_;
}

// --- products -------------------------------------------------------------------------------

std::span<const RungInfo> EmulatedMatmul::rungs() const {
  return {};
}

std::optional<std::string> EmulatedMatmul::unsupported(const RungInfo& /*rung*/,
                                                       const GpuProduct& /*product*/) {
  return tr(kNeverTimed);
}

void EmulatedMatmul::run(const RungInfo& /*rung*/, const GpuProduct& /*product*/,
                         GpuStream& /*stream*/) {
  throw Error(Errc::Unsupported, tr(kNeverTimed));
}

std::optional<double> EmulatedMatmul::run_peak(Precision /*precision*/, std::int64_t /*rounds*/,
                                               GpuStream& /*stream*/) {
  return {};
}

}  // namespace lab::emulated

namespace lab {

struct EmulatedGpus::Impl {
  emulated::Scheduler scheduler;
  emulated::PinnedRegistry pinned;
  std::vector<std::unique_ptr<emulated::EmulatedDevice>> gpus;
};

EmulatedGpus::EmulatedGpus(const EmulatedGpuOptions& options) : impl_(std::make_unique<Impl>()) {
  for (int i = 0; i < options.gpus; ++i) {
    impl_->gpus.push_back(
        std::make_unique<emulated::EmulatedDevice>(i, options, impl_->scheduler, impl_->pinned));
  }
}

EmulatedGpus::~EmulatedGpus() {
  impl_->scheduler.run_all();  // queued work may use the memory of any GPU
}

std::vector<GpuDevice*> EmulatedGpus::devices() {
  std::vector<GpuDevice*> all;
  all.reserve(impl_->gpus.size());
  for (const auto& gpu : impl_->gpus) all.push_back(gpu.get());
  return all;
}

}  // namespace lab
