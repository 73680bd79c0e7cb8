#include "compute/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/core/language.h"
#include "compute/tensor/elementwise.h"
#include "compute/tensor/gpu_tensor_ops.h"

namespace lab {
namespace {

template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::F32;
  if constexpr (std::is_same_v<T, Bf16>) return DType::BF16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::I32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::I64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::U8;
}

std::int64_t checked_bytes(const Shape& shape, DType dtype) {
  constexpr std::int64_t kMax = std::int64_t{1} << 62;
  const std::int64_t n = count(shape);
  if (n > kMax / size_of(dtype)) {
    throw Error(Errc::InvalidArgument,
                trf("tensor {} of {}: more than 2^62 bytes; choose smaller sizes", to_string(shape),
                    to_string(dtype)));
  }
  return n * size_of(dtype);
}

Tensor filled(DeviceContext& context, const Shape& shape, DType dtype, const FillWith& with) {
  check_fill(with, dtype);
  Tensor x(context, shape, dtype, to_string(with.fill));
  fill_range(x, with, 0, x.size());
  return x;
}

template <typename T>
std::string text_of(T value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return fmt::format("{:.4g}", to_float(value));
  } else if constexpr (std::is_same_v<T, float>) {
    return fmt::format("{:.4g}", value);
  } else {
    return fmt::format("{}", value);
  }
}

template <typename T>
std::string first_values(const Tensor& x, int most) {
  std::vector<T> values(static_cast<std::size_t>(std::clamp<std::int64_t>(most, 0, x.size())));
  copy_to_host(x, values.data(), static_cast<std::int64_t>(values.size()));
  std::string text;
  for (const T value : values) text += (text.empty() ? "" : ", ") + text_of(value);
  if (x.size() == 0) return "(empty)";
  if (std::ssize(values) == x.size()) return text;
  return text.empty() ? "..." : text + ", ...";
}

}  // namespace

Tensor::Tensor(DeviceContext& context, Shape shape, DType dtype, std::string name)
    : shape_(std::move(shape)), dtype_(dtype) {
  TensorInfo info;
  info.name = std::move(name);
  info.shape = shape_;
  info.dtype = dtype_;
  buffer_ = std::make_shared<Buffer>(context, checked_bytes(shape_, dtype_), std::move(info));
}

Device Tensor::device() const {
  return context().device();
}

TensorId Tensor::id() const {
  return storage().id();
}

DeviceContext& Tensor::context() const {
  return storage().context();
}

Buffer& Tensor::storage() const {
  if (!defined()) {
    throw Error(Errc::InvalidArgument, tr("tensor: it is undefined and has no storage; create it "
                                          "first"));
  }
  return *buffer_;
}

template <typename T>
std::span<T> Tensor::values() {
  const auto values = std::as_const(*this).values<T>();
  return {const_cast<T*>(values.data()), values.size()};
}

template <typename T>
std::span<const T> Tensor::values() const {
  const Buffer& buffer = storage();
  if (dtype_ != dtype_of<T>()) {
    throw Error(Errc::InvalidArgument, trf("values: the tensor is {} but was read as {}",
                                           to_string(dtype_), to_string(dtype_of<T>())));
  }
  if (buffer.context().gpu() != nullptr) {
    throw Error(Errc::DeviceMismatch,
                trf("values: the tensor is on {}, which the CPU cannot read; copy it first: "
                    "x.to(cpu)",
                    to_string(device())));
  }
  return {reinterpret_cast<const T*>(buffer.data()), static_cast<std::size_t>(size())};
}

template std::span<float> Tensor::values<float>();
template std::span<Bf16> Tensor::values<Bf16>();
template std::span<std::int32_t> Tensor::values<std::int32_t>();
template std::span<std::int64_t> Tensor::values<std::int64_t>();
template std::span<std::uint8_t> Tensor::values<std::uint8_t>();
template std::span<const float> Tensor::values<float>() const;
template std::span<const Bf16> Tensor::values<Bf16>() const;
template std::span<const std::int32_t> Tensor::values<std::int32_t>() const;
template std::span<const std::int64_t> Tensor::values<std::int64_t>() const;
template std::span<const std::uint8_t> Tensor::values<std::uint8_t>() const;

Tensor Tensor::to(DeviceContext& context) const {
  return device() == context.device() ? *this : copy_to(context);
}

Tensor Tensor::copy_to(DeviceContext& context) const {
  Tensor copy(context, shape_, dtype_, "copy");
  copy_range(*this, copy, 0, size());
  return copy;
}

Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};  // quiet, so that it stays NaN
  }
  const std::uint32_t to_even = 0x7fffU + ((bits >> 16) & 1U);
  return {static_cast<std::uint16_t>((bits + to_even) >> 16)};
}

float to_float(Bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

Tensor zeros(DeviceContext& context, const Shape& shape, DType dtype) {
  return filled(context, shape, dtype, {Fill::Zeros});
}

Tensor ones(DeviceContext& context, const Shape& shape, DType dtype) {
  return filled(context, shape, dtype, {Fill::Ones});
}

Tensor full(DeviceContext& context, const Shape& shape, double value, DType dtype) {
  return filled(context, shape, dtype, {Fill::Full, value});
}

Tensor arange(DeviceContext& context, std::int64_t n, DType dtype) {
  return filled(context, {n}, dtype, {Fill::Arange});
}

Tensor rand(DeviceContext& context, const Shape& shape, std::uint64_t seed, DType dtype) {
  return filled(context, shape, dtype, {Fill::Rand, 0, seed});
}

Tensor randn(DeviceContext& context, const Shape& shape, std::uint64_t seed, DType dtype) {
  return filled(context, shape, dtype, {Fill::Randn, 0, seed});
}

Tensor from(DeviceContext& context, const Shape& shape, std::span<const float> values) {
  if (count(shape) != static_cast<std::int64_t>(values.size())) {
    throw Error(Errc::InvalidArgument, trf("from: shape {} holds {} values but {} were given",
                                           to_string(shape), count(shape), values.size()));
  }
  Tensor x(context, shape, DType::F32, "from");
  copy_from_host(values.data(), x);
  return x;
}

Tensor add(const Tensor& x, const Tensor& y) {
  check_same("add", x, y);
  Tensor z(x.context(), x.shape(), x.dtype(), "sum");
  add_range(x, y, z, 0, z.size());
  return z;
}

std::string preview(const Tensor& x, int values) {
  return with_type(x.dtype(), [&]<typename T>(T*) { return first_values<T>(x, values); });
}

TensorInfo tensor_info(const Tensor& x, std::string name) {
  return {.id = x.id(),
          .name = std::move(name),
          .device = x.device(),
          .shape = x.shape(),
          .dtype = x.dtype(),
          .bytes = x.bytes(),
          .preview = preview(x)};
}

namespace {

// Elements per partial sum. Fixed, so that the result does not depend on the number of threads.
constexpr std::int64_t kSlice = 1 << 16;
// Independent sums per slice, so that an addition need not wait for the previous one.
constexpr std::int64_t kLanes = 8;

template <typename T>
double as_double(T value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return double{to_float(value)};
  } else {
    return static_cast<double>(value);
  }
}

template <typename T>
double sum_of_squares(std::span<const T> x) {
  double sums[kLanes] = {};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = as_double(x[i]);
    sums[i % kLanes] += value * value;
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

template <typename T>
double norm_on_cpu(const Tensor& x) {
  const std::span<const T> values = x.values<T>();
  const std::int64_t n = std::ssize(values);
  const std::int64_t slices = (n + kSlice - 1) / kSlice;
  std::vector<double> sums(static_cast<std::size_t>(slices));
  x.context().threads().parallel_for(slices, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
      const std::int64_t from = s * kSlice;
      const auto part = values.subspan(static_cast<std::size_t>(from),
                                       static_cast<std::size_t>(std::min(kSlice, n - from)));
      sums[static_cast<std::size_t>(s)] = sum_of_squares(part);
    }
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

// The first and last indices of `size`, all of them if there are few.
std::vector<std::int64_t> edges(std::int64_t size) {
  constexpr std::int64_t kAll = 16, kEdge = 4;
  std::vector<std::int64_t> shown;
  for (std::int64_t i = 0; i < size; ++i) {
    if (size > kAll && i == kEdge) i = size - kEdge;
    shown.push_back(i);
  }
  return shown;
}

template <typename T>
void read_grid(const Tensor& x, ValueGrid& grid) {
  const std::vector<std::int64_t>& columns = grid.shown_columns;
  std::vector<T> part(columns.size());
  for (const std::int64_t row : grid.shown_rows) {
    // Runs of adjacent columns: one, or one at each edge.
    for (std::size_t begin = 0; begin < columns.size();) {
      std::size_t end = begin + 1;
      while (end < columns.size() && columns[end] == columns[end - 1] + 1) ++end;
      copy_to_host(x, part.data(), static_cast<std::int64_t>(end - begin),
                   row * grid.columns + columns[begin]);
      for (std::size_t i = 0; i < end - begin; ++i) grid.values.push_back(as_double(part[i]));
      begin = end;
    }
  }
}

}  // namespace

ValueGrid value_grid(const Tensor& x) {
  ValueGrid grid;
  if (x.size() == 0) return grid;
  grid.integral = x.dtype() != DType::F32 && x.dtype() != DType::BF16;
  grid.columns = x.shape().empty() ? 1 : x.shape().back();
  grid.rows = x.size() / grid.columns;
  grid.shown_rows = edges(grid.rows);
  grid.shown_columns = edges(grid.columns);
  with_type(x.dtype(), [&]<typename T>(T*) { read_grid<T>(x, grid); });
  return grid;
}

double norm(const Tensor& x) {
  if (x.context().gpu() != nullptr) return gpu_ops::norm(x);
  return with_type(x.dtype(), [&]<typename T>(T*) { return norm_on_cpu<T>(x); });
}

}  // namespace lab
