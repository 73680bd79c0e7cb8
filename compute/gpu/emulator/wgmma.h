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

inline void publish_stores() {}
inline void wgmma_begin() {}
inline void wgmma_commit() {}
template <int kEighths>
void wgmma_finish(float (&)[kEighths][4]) {}

// One operand of a warpgroup's product: whether its rows hold slots, and the 16 slots from which
// its terms are taken.
struct BoxOperand {
  Box box;
  bool slots;
  int step;
};
// sums: [columns / 8][4] of the running thread.
void multiply_boxes(float (*sums)[4], int columns, const BoxOperand& a, const BoxOperand& b,
                    const Where& where);

template <bool kASlots, bool kBSlots, int kEighths>
void wgmma(float (&sums)[kEighths][4], const Box& a, const Box& b, int a_step, int b_step,
           const Where& where = Where::here()) {
  static_assert(kEighths == 8 || kEighths == 16);
  multiply_boxes(sums, kEighths * 8, {a, kASlots, a_step}, {b, kBSlots, b_step}, where);
}

}  // namespace lab::simt
