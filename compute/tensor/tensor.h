#pragma once
// A dense row-major array on one device. Copies share storage; copy_to() allocates new storage.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "compute/core/dtype.h"
#include "compute/core/error.h"
#include "compute/core/events/event.h"
#include "compute/tensor/buffer.h"
#include "compute/tensor/shape.h"

namespace lab {

class Tensor {
 public:
  Tensor() = default;
  // The content is uninitialised. `name` appears in the live list.
  Tensor(DeviceContext& context, Shape shape, DType dtype, std::string name = {});

  bool defined() const { return buffer_ != nullptr; }
  // Properties of the storage. Throw Error(Errc::InvalidArgument) if the tensor is undefined.
  Device device() const;
  TensorId id() const;
  DeviceContext& context() const;
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::int64_t size() const { return count(shape_); }
  std::int64_t bytes() const { return size() * size_of(dtype_); }
  bool shares_storage_with(const Tensor& other) const { return buffer_ == other.buffer_; }

  // Typed CPU access to the elements. Throws Error(Errc::InvalidArgument) if T is not the dtype's
  // type (float, Bf16, std::int32_t, std::int64_t, std::uint8_t) and Error(Errc::DeviceMismatch) if
  // the tensor is on a GPU.
  template <typename T>
  std::span<T> values();
  template <typename T>
  std::span<const T> values() const;

  // Address of the first element on its device. The CPU must not dereference a GPU address.
  std::byte* data() { return storage().data(); }
  const std::byte* data() const { return storage().data(); }

  // Returns this tensor if it is already on `context`'s device (same storage), otherwise a copy
  // there.
  Tensor to(DeviceContext& context) const;
  // Always copies, even on the same device.
  Tensor copy_to(DeviceContext& context) const;

 private:
  Buffer& storage() const;  // throws if undefined

  std::shared_ptr<Buffer> buffer_;
  Shape shape_;
  DType dtype_ = DType::F32;
};

// bf16: the upper half of a float, rounded to nearest, ties to even; NaN stays NaN.
struct Bf16 {
  std::uint16_t bits = 0;
};
Bf16 to_bf16(float value);
float to_float(Bf16 value);

// Factory functions. Values are identical on every device and for any number of threads. On a GPU,
// factory functions and sums are queued on the main stream; operations that read or copy their
// results wait for it.
Tensor zeros(DeviceContext& context, const Shape& shape, DType dtype = DType::F32);
Tensor ones(DeviceContext& context, const Shape& shape, DType dtype = DType::F32);
Tensor full(DeviceContext& context, const Shape& shape, double value, DType dtype = DType::F32);
Tensor arange(DeviceContext& context, std::int64_t n, DType dtype = DType::F32);
// Uniform in [0, 1); f32 and bf16 only.
Tensor rand(DeviceContext& context, const Shape& shape, std::uint64_t seed,
            DType dtype = DType::F32);
// Standard normal; f32 and bf16 only.
Tensor randn(DeviceContext& context, const Shape& shape, std::uint64_t seed,
             DType dtype = DType::F32);
Tensor from(DeviceContext& context, const Shape& shape, std::span<const float> values);

// Elementwise sum: f32 and bf16 (rounded once), i32, i64, u8 (wrapping). Throws
// Error(Errc::DeviceMismatch) naming both devices, or Error(Errc::InvalidArgument) naming both
// shapes or dtypes.
Tensor add(const Tensor& x, const Tensor& y);
inline Tensor operator+(const Tensor& x, const Tensor& y) {
  return add(x, y);
}

// Square root of the sum of squares, accumulated in double. The summation order depends on the
// device but not on the number of threads.
double norm(const Tensor& x);

// Formats the first values for the Memory page: "0.1234, -1.5, ...".
std::string preview(const Tensor& x, int values = 6);

// Describes the tensor under this name, with its preview.
TensorInfo tensor_info(const Tensor& x, std::string name);

// Returns the values; in each dimension of the matrix that exceeds 16, those at the edges.
ValueGrid value_grid(const Tensor& x);

}  // namespace lab
