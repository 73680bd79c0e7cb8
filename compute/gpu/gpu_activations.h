#pragma once
// Arrays of activations and of their gradients in device memory: FP32, or bf16 as its 16 bits.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compute/core/dtype.h"

namespace lab {

// Elements of a bf16 array that a thread reads or writes at once. The arrays of an operation begin
// at multiples of 16 bytes where one of them is bf16, and its rows are multiples of this
// number of elements.
inline constexpr int kBf16Width = 8;

// The address of an array, possibly null, with the type of its elements: DType::F32 or BF16.
// kConst: its elements are only read.
template <bool kConst>
class BasicGpuActivations {
  template <class T>
  using Of = std::conditional_t<kConst, const T, T>;

 public:
  BasicGpuActivations() = default;
  BasicGpuActivations(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  BasicGpuActivations(Of<float>* elements) : data_(elements) {}
  BasicGpuActivations(Of<void>* data, DType dtype) : data_(data), dtype_(dtype) {}
  template <bool kOther>
  requires(kConst && !kOther)
      BasicGpuActivations(BasicGpuActivations<kOther> other)  // NOLINT(google-explicit-constructor)
      : data_(other.data()), dtype_(other.dtype()) {}

  Of<void>* data() const { return data_; }
  DType dtype() const { return dtype_; }
  bool is_bf16() const { return dtype_ == DType::BF16; }
  // The elements, null if they are of the other type.
  Of<float>* f32() const { return is_bf16() ? nullptr : static_cast<Of<float>*>(data_); }
  Of<std::uint16_t>* bf16() const {
    return is_bf16() ? static_cast<Of<std::uint16_t>*>(data_) : nullptr;
  }
  // Those of type Element, float or std::uint16_t.
  template <class Element>
  Of<Element>* as() const {
    if constexpr (std::is_same_v<Element, float>) {
      return f32();
    } else {
      return bf16();
    }
  }
  friend bool operator==(BasicGpuActivations array, std::nullptr_t) {
    return array.data_ == nullptr;
  }

 private:
  Of<void>* data_ = nullptr;
  DType dtype_ = DType::F32;
};

using GpuActivations = BasicGpuActivations<false>;
using ConstGpuActivations = BasicGpuActivations<true>;

}  // namespace lab
