#pragma once
// The definitions of compute/gpu/cuda/kernel/wgmma.h for the host.
#include <cstddef>

#include "compute/gpu/emulator/vocabulary.h"

namespace lab::simt {

struct Box {
  SharedArray* array = nullptr;
  std::ptrdiff_t byte_offset = 0;

  Box operator+(int bytes) const { return {array, byte_offset + bytes}; }
};

// Dynamic shared memory begins at a multiple of the alignment here.
template <typename T>
SharedPtr<T> first_box(const SharedPtr<T>& shared) {
  return shared;
}
template <typename T>
Box box_at(const SharedPtr<T>& first) {
  return {&first.here(), first.byte_offset()};
}

inline void wgmma_begin() {}
inline void wgmma_commit() {}
template <int kPending>
void wgmma_wait() {}
template <int kEighths>
void wgmma_finish(float (&)[kEighths][4]) {}

// One operand of a warpgroup's product: whether its rows hold slots.
struct BoxOperand {
  Box box;
  bool slots;
};
// sums: [columns / 8][4] of the running thread.
void multiply_boxes(Element16 element, float (*sums)[4], int columns, const BoxOperand& a,
                    const BoxOperand& b, int step, const Where& where);

template <Element16 kElement, bool kASlots, bool kBSlots, int kEighths>
void wgmma(float (&sums)[kEighths][4], const Box& a, const Box& b, int step,
           const Where& where = Where::here()) {
  static_assert(kEighths == 8 || kEighths == 16 || kEighths == 24);
  multiply_boxes(kElement, sums, kEighths * 8, {a, kASlots}, {b, kBSlots}, step, where);
}

}  // namespace lab::simt
