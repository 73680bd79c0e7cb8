#include "tests/support/fake_gpu/fake_gpu.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>

#include "compute/core/error.h"
#include "compute/tensor/random.h"
#include "compute/tensor/tensor.h"
#include "tests/support/fake_gpu/fake_stream.h"

namespace lab::test {
namespace {

class FakePinned final : public PinnedMemory {
 public:
  FakePinned(FakeGpu& gpu, std::int64_t bytes)
      : gpu_(gpu), memory_(static_cast<std::size_t>(bytes)) {
    gpu_.add_pinned(memory_.data(), bytes);
  }
  ~FakePinned() override { gpu_.drop_pinned(memory_.data()); }
  std::byte* data() override { return memory_.data(); }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(memory_.size()); }

 private:
  FakeGpu& gpu_;
  std::vector<std::byte> memory_;
};

// Calls `body` with a null pointer to the CPU tensors' element type for `dtype`.
template <typename Body>
void with_element(DType dtype, Body body) {
  switch (dtype) {
    case DType::F32: return body(static_cast<float*>(nullptr));
    case DType::BF16: return body(static_cast<Bf16*>(nullptr));
    case DType::I32: return body(static_cast<std::int32_t*>(nullptr));
    case DType::I64: return body(static_cast<std::int64_t*>(nullptr));
    case DType::U8: return body(static_cast<std::uint8_t*>(nullptr));
  }
}

template <typename T>
T element(double value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return to_bf16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
double number(T value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return double{to_float(value)};
  } else {
    return static_cast<double>(value);
  }
}

template <typename T>
T sum_of(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
  } else {
    return element<T>(number(x) + number(y));
  }
}

template <typename T>
T filled_value(const GpuFill& fill, std::int64_t index) {
  const RandomStream random{fill.seed, 0};
  const auto at = static_cast<std::uint64_t>(index);
  T value{};
  switch (fill.kind) {
    case GpuFillKind::Constant:
      std::memcpy(static_cast<void*>(&value), &fill.bits, sizeof value);
      return value;
    case GpuFillKind::Arange:
      if constexpr (std::is_integral_v<T>) return static_cast<T>(index);
      return element<T>(static_cast<double>(index));
    case GpuFillKind::Uniform: return element<T>(double{random.uniform(at)});
    case GpuFillKind::Normal: return element<T>(double{random.normal(at)});
  }
  return value;
}

}  // namespace

FakeGpu::FakeGpu(int index, std::int64_t memory_bytes) : health_(gpu(index)) {
  facts_.device = gpu(index);
  facts_.name = "Fake GPU";
  facts_.pci_bus_id = "0000:0" + std::to_string(index + 1) + ":00.0";
  facts_.compute_major = 9;
  facts_.multiprocessors = 132;
  facts_.copy_engines = 3;
  facts_.memory_bytes = memory_bytes;
  facts_.l2_bytes = std::int64_t{50} << 20;
  facts_.shared_bytes_per_block = std::int64_t{227} << 10;
  facts_.clock_max_mhz = 1980;
  facts_.memory_pools = true;
  main_stream_ = std::make_unique<FakeStream>(*this);
}

FakeGpu::~FakeGpu() {
  EXPECT_TRUE(live_.empty()) << to_string(facts_.device) << " ends with memory still allocated";
}

void FakeGpu::enter(const std::string& operation) {
  health_.require_usable();
  if (faults.unavailable) {
    throw Error(Errc::Unsupported, gpu_unavailable(facts_.device, "cudaErrorDevicesUnavailable"));
  }
  if (faults.loses == operation && faults.loses_after-- <= 0) {
    throw health_.lose(operation, "cudaErrorIllegalAddress (an illegal memory access)");
  }
  if (faults.fails == operation && faults.fails_after-- <= 0) {
    faults.fails.clear();
    throw gpu_failure(facts_.device, operation, "cudaErrorInvalidValue (invalid argument)");
  }
}

std::int64_t FakeGpu::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

GpuMemory FakeGpu::memory() {
  const std::int64_t used = used_bytes();
  return {facts_.memory_bytes - used, facts_.memory_bytes, used + pool_kept_bytes, used};
}

GpuHoldings FakeGpu::holdings() const noexcept {
  const std::lock_guard lock(mutex_);
  GpuHoldings held;
  for (const auto& [memory, bytes] : pinned_) held.pinned_bytes += bytes;
  held.workspace_bytes = workspace_bytes;
  held.pool_reserved_bytes = used_bytes_ + pool_kept_bytes;
  return held;
}

std::unique_ptr<GpuStream> FakeGpu::make_stream() {
  enter("make_stream");
  return std::make_unique<FakeStream>(*this);
}

std::unique_ptr<GpuEvent> FakeGpu::make_event() {
  enter("make_event");
  return std::make_unique<FakeEvent>(*this);
}

std::byte* FakeGpu::allocate(std::int64_t bytes, GpuStream& /*stream*/) {
  enter("allocate");
  EXPECT_GT(bytes, 0);
  if (bytes > facts_.memory_bytes - used_bytes()) {
    throw gpu_out_of_memory(facts_.device, bytes, memory());
  }
  const std::lock_guard lock(mutex_);
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes), std::byte{0xa5});
  std::byte* at = memory.data();
  live_.emplace(at, std::move(memory));
  used_bytes_ += bytes;
  return at;
}

void FakeGpu::release(std::byte* memory, GpuStream& /*stream*/) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(memory);
  if (found == live_.end()) {
    ADD_FAILURE() << "released memory that was not allocated";
    return;
  }
  used_bytes_ -= static_cast<std::int64_t>(found->second.size());
  live_.erase(found);
}

void FakeGpu::trim_pool() {
  enter("trim_pool");
}

std::unique_ptr<PinnedMemory> FakeGpu::allocate_pinned(std::int64_t bytes) {
  enter("allocate_pinned");
  if (faults.no_pinned_memory) throw pinned_out_of_memory(bytes, "a test");
  ++pinned_pieces_;
  return std::make_unique<FakePinned>(*this, bytes);
}

bool FakeGpu::is_mine(const void* memory, std::int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto* begin = static_cast<const std::byte*>(memory);
  auto after = live_.upper_bound(begin);
  if (after == live_.begin()) return false;
  const auto& [at, content] = *--after;
  return begin + bytes <= at + content.size();
}

void FakeGpu::require_mine(const void* memory, std::int64_t bytes) const {
  EXPECT_TRUE(is_mine(memory, bytes)) << "memory not owned by " << to_string(facts_.device);
}

void FakeGpu::add_pinned(const std::byte* memory, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  pinned_.emplace(memory, bytes);
}

void FakeGpu::drop_pinned(const std::byte* memory) {
  const std::lock_guard lock(mutex_);
  pinned_.erase(memory);
}

bool FakeGpu::is_pinned(const void* memory) const {
  const std::lock_guard lock(mutex_);
  const auto* at = static_cast<const std::byte*>(memory);
  auto after = pinned_.upper_bound(at);
  if (after == pinned_.begin()) return false;
  const auto& [begin, bytes] = *--after;
  return at < begin + bytes;
}

void FakeGpu::move_bytes(void* to, const void* from, std::int64_t bytes) const {
  if (faults.copies_take_s > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(faults.copies_take_s));
  }
  std::memmove(to, from, static_cast<std::size_t>(faults.short_copies ? bytes - 1 : bytes));
}

void FakeGpu::copy(GpuCopy direction, void* to, const void* from, std::int64_t bytes,
                   GpuStream& stream) {
  enter("copy");
  const bool on_gpu = direction == GpuCopy::DeviceToDevice;
  if (static_cast<FakeStream&>(stream).gated() && !on_gpu) {
    EXPECT_TRUE(is_pinned(direction == GpuCopy::HostToDevice ? from : to))
        << "pageable memory behind a closed gate: the driver would block";
  }
  const double passes = on_gpu ? 2 / costs.memory_bytes_per_s : 1 / costs.link_bytes_per_s;
  spend(stream, costs.call_s + static_cast<double>(bytes) * passes);
  EXPECT_EQ(is_mine(to, bytes), direction != GpuCopy::DeviceToHost);
  EXPECT_EQ(is_mine(from, bytes), direction != GpuCopy::HostToDevice);
  move_bytes(to, from, bytes);
}

void FakeGpu::copy_to_peer(GpuDevice& peer, std::byte* to, const std::byte* from,
                           std::int64_t bytes, GpuStream& stream) {
  enter("copy_to_peer");
  spend(stream, costs.call_s + static_cast<double>(bytes) / costs.link_bytes_per_s);
  require_mine(from, bytes);
  static_cast<FakeGpu&>(peer).require_mine(to, bytes);
  move_bytes(to, from, bytes);
}

bool FakeGpu::can_access(const GpuDevice& peer) const {
  return peer.facts().device != facts_.device && !faults.no_peer_access;
}

void FakeGpu::set_peer_access(GpuDevice& peer, bool /*on*/) {
  enter("set_peer_access");
  if (!can_access(peer)) throw no_peer_access(facts_.device, peer.facts().device);
}

void FakeGpu::fill(const GpuFill& fill, GpuStream& /*stream*/) {
  enter("fill");
  ++fills_;
  require_mine(fill.to, fill.count * size_of(fill.dtype));
  with_element(fill.dtype, [&]<typename T>(T*) {
    const std::span<T> to(reinterpret_cast<T*>(fill.to), static_cast<std::size_t>(fill.count));
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = filled_value<T>(fill, fill.first + static_cast<std::int64_t>(i));
    }
  });
}

void FakeGpu::add(const GpuSum& sum, GpuStream& /*stream*/) {
  enter("add");
  const std::int64_t bytes = sum.count * size_of(sum.dtype);
  for (const std::byte* memory : {sum.x, sum.y, static_cast<const std::byte*>(sum.z)}) {
    require_mine(memory, bytes);
  }
  with_element(sum.dtype, [&]<typename T>(T*) {
    for (std::int64_t i = 0; i < sum.count; ++i) {
      reinterpret_cast<T*>(sum.z)[i] =
          sum_of(reinterpret_cast<const T*>(sum.x)[i], reinterpret_cast<const T*>(sum.y)[i]);
    }
  });
}

double FakeGpu::norm(const GpuNorm& norm, GpuStream& /*stream*/) {
  enter("norm");
  require_mine(norm.x, norm.count * size_of(norm.dtype));
  double total = 0;
  with_element(norm.dtype, [&]<typename T>(T*) {
    for (std::int64_t i = 0; i < norm.count; ++i) {
      const double x = number(reinterpret_cast<const T*>(norm.x)[i]);
      total += x * x;
    }
  });
  return std::sqrt(total);
}

void FakeGpu::begin_recording(GpuStream& /*stream*/) {
  throw Error(Errc::Unsupported, "fake GPU: recording is not simulated");
}

std::unique_ptr<GpuGraph> FakeGpu::end_recording(GpuStream& /*stream*/) {
  throw Error(Errc::Unsupported, "fake GPU: recording is not simulated");
}

void FakeGpu::abandon_recording(GpuStream& /*stream*/) noexcept {}

GpuLayers& FakeGpu::layers() {
  throw Error(Errc::Unsupported, "fake GPU: layers are not simulated");
}

GpuLayers& FakeGpu::library_layers() {
  throw Error(Errc::Unsupported, "fake GPU: layers are not simulated");
}

FakeBackend::FakeBackend(int gpus, std::int64_t memory_bytes) {
  for (int i = 0; i < gpus; ++i) gpus_.push_back(std::make_unique<FakeGpu>(i, memory_bytes));
}

std::vector<GpuDevice*> FakeBackend::devices() {
  std::vector<GpuDevice*> all;
  for (const auto& gpu : gpus_) all.push_back(gpu.get());
  return all;
}

RejectedGpu rejected_gpu(const std::string& pci_bus_id, const std::string& reason) {
  RejectedGpu gpu;
  gpu.facts.name = "Old GPU";
  gpu.facts.pci_bus_id = pci_bus_id;
  gpu.reason = reason;
  return gpu;
}

std::function<GpuBackendResult()> backend_opener(std::shared_ptr<FakeBackend> backend) {
  return [backend = std::move(backend)] { return GpuBackendResult{backend, "", true}; };
}

}  // namespace lab::test
