#pragma once
// A dense row-major array on one device. Copies share storage; `copy_to` makes new storage.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "compute/core/dtype.h"
#include "compute/core/error.h"
#include "compute/tensor/buffer.h"
#include "compute/tensor/shape.h"

namespace lab {

class Tensor {
 public:
  Tensor() = default;
  // Uninitialised. `name` appears in the live list.
  Tensor(DeviceContext& context, Shape shape, DType dtype, std::string name = {});

  bool defined() const { return buffer_ != nullptr; }
  // Of the storage; an undefined tensor has none: throws Error(InvalidArgument).
  Device device() const;
  TensorId id() const;
  DeviceContext& context() const;
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::int64_t size() const { return count(shape_); }
  std::int64_t bytes() const { return size() * size_of(dtype_); }
  bool shares_storage_with(const Tensor& other) const { return buffer_ == other.buffer_; }

  // Typed access by the CPU; throws Error(InvalidArgument) when T is not the dtype's type (float,
  // Bf16, std::int32_t, std::int64_t, std::uint8_t), Error(DeviceMismatch) when it is on a GPU.
  template <typename T>
  std::span<T> values();
  template <typename T>
  std::span<const T> values() const;

  // Address of the first element on its device; the CPU cannot follow that of a GPU.
  std::byte* data() { return storage().data(); }
  const std::byte* data() const { return storage().data(); }

  // This tensor when it is on `context`'s device already (same storage), else a copy there.
  Tensor to(DeviceContext& context) const;
  // Always a copy, also on the same device.
  Tensor copy_to(DeviceContext& context) const;

 private:
  Buffer& storage() const;  // throws when undefined

  std::shared_ptr<Buffer> buffer_;
  Shape shape_;
  DType dtype_ = DType::F32;
};

// bf16: the upper half of a float, rounded to nearest even; NaN stays NaN.
struct Bf16 {
  std::uint16_t bits = 0;
};
Bf16 to_bf16(float value);
float to_float(Bf16 value);

// Makers. Values are the same on every device and thread count. Makers and sums on a GPU are
// queued on its main stream; what reads or copies their result waits for it.
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

// Elementwise sum, f32 and bf16 (rounded once), i32, i64, u8 (wrapping). Throws
// Error(DeviceMismatch) naming both devices, Error(InvalidArgument) naming both shapes or dtypes.
Tensor add(const Tensor& x, const Tensor& y);
inline Tensor operator+(const Tensor& x, const Tensor& y) {
  return add(x, y);
}

// The square root of the sum of squares, summed in double in an order of the device's own: the same
// on any number of threads.
double norm(const Tensor& x);

// First values as text for the Memory page: "0.1234, -1.5, ...".
std::string preview(const Tensor& x, int values = 6);

}  // namespace lab
