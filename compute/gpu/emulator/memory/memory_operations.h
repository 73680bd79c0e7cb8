#pragma once
// Loads, stores, copies and atomics of the kernel vocabulary, for the host.
#include <bit>
#include <cstddef>
#include <type_traits>

#include "compute/gpu/emulator/memory/pointers.h"

namespace lab::simt {

SharedArray& shared_array_of(const SharedTag& tag, std::size_t bytes, std::size_t element_bytes);
SharedArray& dynamic_shared_array_of(const char* name, std::size_t element_bytes);

// The smallest access of an array is one of its elements, or of four bytes.
template <typename T>
constexpr bool is_shared_element = sizeof(T) >= 4 || std::has_single_bit(sizeof(T));

template <typename T>
SharedPtr<T> shared_array(const SharedTag& tag, std::size_t count) {
  static_assert(is_shared_element<T>);
  return {&shared_array_of(tag, count * sizeof(T), sizeof(T)), 0};
}
template <typename T>
SharedPtr<T> dynamic_shared_array(const char* name) {
  static_assert(is_shared_element<T>);
  return {&dynamic_shared_array_of(name, sizeof(T)), 0};
}
template <typename U, typename T>
SharedPtr<U> shared_cast(const SharedPtr<T>& pointer) {
  static_assert(std::is_const_v<U> || !std::is_const_v<T>);
  return {pointer.array(), pointer.byte_offset()};
}

template <typename T>
GlobalPtr<T> global(T* pointer) {
  return {access::region_of(pointer), pointer, 0};
}

template <typename V, typename T>
V load(const SharedPtr<T>& from) {
  return from.template read<V>();
}
template <typename V, typename T>
V load(const GlobalPtr<T>& from) {
  return from.template read<V>();
}
template <typename V, typename T>
V load(const T* from) {
  return load<V>(global(from));
}
template <typename V, typename T>
V load_readonly(const GlobalPtr<T>& from) {
  return from.template read<V>(access::GlobalUse::ReadOnly);
}
template <typename V, typename T>
V load_readonly(const T* from) {
  return load_readonly<V>(global(from));
}
template <typename T, typename V>
void store(const SharedPtr<T>& to, const V& value) {
  to.write(value);
}
template <typename T, typename V>
void store(const GlobalPtr<T>& to, const V& value) {
  to.write(value);
}
template <typename T, typename V>
void store(T* to, const V& value) {
  store(global(to), value);
}

// If `valid_bytes` is 0, the GPU does not read `from`.
template <int kBytes, typename D, typename S>
void copy_async(const SharedPtr<D>& to, const GlobalPtr<S>& from, int valid_bytes = kBytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  const auto valid = static_cast<std::size_t>(valid_bytes);
  access::check_copy(from.region(), from.pointer(),
                     from.index() * static_cast<std::ptrdiff_t>(sizeof(S)), kBytes, valid_bytes,
                     sizeof(S));
  access::shared_copy(to.here(), to.at(kBytes), valid > 0 ? from.pointer() + from.index() : nullptr,
                      valid);
}
template <int kBytes, typename D, typename S>
void copy_async(const SharedPtr<D>& to, const S* from, int valid_bytes = kBytes) {
  copy_async<kBytes>(to, global(from), valid_bytes);
}
void copy_commit();
void wait_for_copies(int pending);
template <int kPending>
void copy_wait() {
  static_assert(kPending >= 0);
  wait_for_copies(kPending);
}

namespace access {

template <typename T, typename Change>
T change_atomically(T* at, const Change& change) {
  const T before = *at;
  *at = change(before);
  return before;
}

}  // namespace access

// Pointer: SharedPtr<T>, GlobalPtr<T>; overloads for plain pointers follow.
template <typename Pointer, typename T = typename Pointer::Value>
T atomic_add(const Pointer& at, std::type_identity_t<T> value) {
  return access::change_atomically(at.atomic(), [&](T old) { return static_cast<T>(old + value); });
}
template <typename Pointer, typename T = typename Pointer::Value>
T atomic_max(const Pointer& at, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>);
  return access::change_atomically(at.atomic(), [&](T old) { return old > value ? old : value; });
}
template <typename Pointer, typename T = typename Pointer::Value>
T atomic_cas(const Pointer& at, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  static_assert(std::is_integral_v<T>);
  return access::change_atomically(at.atomic(),
                                   [&](T old) { return old == expected ? desired : old; });
}
template <typename T>
T atomic_add(T* at, std::type_identity_t<T> value) {
  return atomic_add(global(at), value);
}
template <typename T>
T atomic_max(T* at, std::type_identity_t<T> value) {
  return atomic_max(global(at), value);
}
template <typename T>
T atomic_cas(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  return atomic_cas(global(at), expected, desired);
}

}  // namespace lab::simt
