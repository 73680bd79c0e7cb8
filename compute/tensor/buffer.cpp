#include "compute/tensor/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab {
namespace {

constexpr std::int64_t kAlignment = 64;  // bytes: a cache line, and the widest vector
// Loads wait for stores just before them whose low address bits are equal (12 on Intel, 16 on Zen
// 4). A copy of 4 KiB whose destination lies 64 bytes further in these bits takes up to 12 times as
// long, so what fills a page starts at one: then the equal bits are a page of stores away.
constexpr std::int64_t kPage = 4 * kKiB;
// Large buffers are aligned to huge pages, which avoid most page table walks.
constexpr std::int64_t kHugePage = 2 * kMiB;
constexpr std::int64_t kHugeFrom = 4 * kMiB;

std::byte* allocate(Device device, std::int64_t bytes) {
  const std::int64_t alignment = bytes >= kHugeFrom ? kHugePage
                                 : bytes >= kPage   ? kPage
                                                    : kAlignment;
  const std::int64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = nullptr;
  if (::posix_memalign(&memory, static_cast<std::size_t>(alignment),
                       static_cast<std::size_t>(rounded)) != 0) {
    throw Error(Errc::OutOfMemory,
                trf("{}: host allocation of {} failed; free some tensors or choose a smaller size",
                    to_string(device), format_bytes(bytes)));
  }
  if (bytes >= kHugeFrom) {
    // Advisory: the memory is usable without huge pages.
    ::madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
  }
  return static_cast<std::byte*>(memory);
}

std::byte* allocate_on(GpuDevice& gpu, std::int64_t bytes) {
  return gpu.allocate(bytes, gpu.main_stream());
}

}  // namespace

Buffer::Buffer(DeviceContext& context, std::int64_t bytes, TensorInfo info)
    : context_(&context), bytes_(bytes), id_(context.memory().reserve(bytes, std::move(info))) {
  if (bytes == 0) return;
  try {
    data_ = context.gpu() != nullptr ? allocate_on(*context.gpu(), bytes)
                                     : allocate(context.device(), bytes);
  } catch (...) {
    context.memory().release(id_);
    throw;
  }
}

Buffer named_buffer(DeviceContext& context, std::int64_t bytes, std::string name, DType dtype) {
  TensorInfo info;
  info.name = std::move(name);
  info.shape = {bytes / size_of(dtype)};
  info.dtype = dtype;
  return {context, bytes, std::move(info)};
}

Buffer::~Buffer() {
  give_back();
}

void Buffer::give_back() noexcept {
  if (context_ == nullptr) return;
  if (context_->gpu() == nullptr) {
    std::free(data_);
  } else if (data_ != nullptr) {
    context_->gpu()->release(data_, context_->gpu()->main_stream());
  }
  context_->memory().release(id_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      id_(std::exchange(other.id_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(id_, other.id_);
  return *this;
}

}  // namespace lab
