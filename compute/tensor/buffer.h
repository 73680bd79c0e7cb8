#pragma once
// Memory on one device: owned, aligned to 64 bytes, from a page on to a page, and recorded in the
// device's memory account. GPU buffers are stream-ordered on the GPU's main stream.
#include <cstddef>
#include <cstdint>
#include <string>

#include "compute/machine/machine.h"

namespace lab {

class Buffer {
 public:
  Buffer() = default;
  // Books `bytes` in the account, then allocates them. 0 bytes are allowed and hold no memory. The
  // content is uninitialised. `info` names the buffer in the live list; `context` must outlive the
  // buffer.
  // Throws Error(Errc::OutOfMemory) with the requested and the available size before allocating.
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

// A buffer that the live list shows as an array of `dtype`.
Buffer named_buffer(DeviceContext& context, std::int64_t bytes, std::string name,
                    DType dtype = DType::F32);

}  // namespace lab
