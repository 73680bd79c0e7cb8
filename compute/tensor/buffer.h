#pragma once
// Memory on one device: owned, 64-byte aligned, booked in the device's account. On a GPU it is
// stream-ordered on the GPU's main stream.
#include <cstddef>
#include <cstdint>

#include "compute/machine/machine.h"

namespace lab {

class Buffer {
 public:
  Buffer() = default;
  // Books, then allocates `bytes` (0 is allowed and holds no memory; content is not initialised).
  // Throws Error(OutOfMemory) with both numbers before trying. `info` names it in the live list.
  // `context` must outlive the buffer.
  Buffer(DeviceContext& context, std::int64_t bytes, TensorInfo info);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  TensorId id() const { return id_; }
  DeviceContext& context() const { return *context_; }

 private:
  void give_back() noexcept;

  DeviceContext* context_ = nullptr;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  TensorId id_ = 0;
};

}  // namespace lab
