#pragma once
// p[i] for arrays with checked accesses.
#include <utility>

namespace lab::simt {

// Proxy for one element, valid until the end of the full expression: `auto x = p[i]` cannot be
// used. `Pointer` has get() and set(T).
template <typename Pointer, typename T>
class ElementRef {
 public:
  explicit ElementRef(Pointer to) : to_(to) {}
  ElementRef(const ElementRef&) = delete;
  ~ElementRef() = default;

  operator T() && { return to_.get(); }
  void operator=(T value) && { to_.set(value); }
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): accesses throw Fault
  void operator=(ElementRef&& other) && { to_.set(other.to_.get()); }
  void operator+=(T value) && { to_.set(static_cast<T>(to_.get() + value)); }
  void operator-=(T value) && { to_.set(static_cast<T>(to_.get() - value)); }
  void operator*=(T value) && { to_.set(static_cast<T>(to_.get() * value)); }

 private:
  Pointer to_;
};

// Arithmetic shared by pointers to shared and to global memory; positions are in elements.
template <typename Self, typename T>
class PointerArithmetic {
 public:
  friend Self operator+(Self p, std::ptrdiff_t n) { return p.moved(n); }
  friend Self operator+(std::ptrdiff_t n, Self p) { return p.moved(n); }
  friend Self operator-(Self p, std::ptrdiff_t n) { return p.moved(-n); }
  friend Self& operator+=(Self& p, std::ptrdiff_t n) { return p = p.moved(n); }
  friend Self& operator-=(Self& p, std::ptrdiff_t n) { return p = p.moved(-n); }
  friend Self& operator++(Self& p) { return p = p.moved(1); }
  friend Self operator++(Self& p, int) { return std::exchange(p, p.moved(1)); }

  decltype(auto) operator[](std::ptrdiff_t n) const { return *self().moved(n); }
  auto operator*() const {
    if constexpr (std::is_const_v<T>) {
      return self().get();
    } else {
      return ElementRef<Self, T>(self());
    }
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace lab::simt
