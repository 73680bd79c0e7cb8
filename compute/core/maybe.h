#pragma once
// Holds a value or the reason why it is missing, so that "N/A" is never shown as 0 or without an
// explanation.
#include <optional>
#include <string>
#include <utility>

#include "compute/core/fields/enum_names.h"

namespace lab {

template <typename T>
class Maybe {
 public:
  Maybe() = default;
  Maybe(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)

  static Maybe missing(std::string reason) {
    Maybe m;
    m.reason_ = std::move(reason);
    return m;
  }

  explicit operator bool() const { return value_.has_value(); }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return &*value_; }
  T value_or(T other) const { return value_.value_or(std::move(other)); }

  // Why there is no value, as a clause that a message can quote: "the kernel reports no sensor".
  const std::string& reason() const { return reason_; }

 private:
  std::optional<T> value_;
  std::string reason_ = LAB_TEXT("not read yet");
};

}  // namespace lab
