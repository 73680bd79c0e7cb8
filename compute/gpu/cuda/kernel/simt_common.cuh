#pragma once
// The part of simt.h shared by the device and the emulator: warp reductions, registers and the
// element layouts of tensor core fragments. Include simt.h, not this header.
//
// Layouts of mma.sync (row.col), with g = lane / 4 and t = lane % 4, for element i of a lane. With
// bf16, elements 2r and 2r + 1 are the low and the high half of register r:
//   bf16 m16n8k16   A [16,16], i < 8   row g (+8: i = 2,3,6,7), column 2t + i % 2 (+8: i >= 4)
//                   B [16,8],  i < 4   row 2t + i % 2 (+8: i >= 2), column g
//   tf32 m16n8k8    A [16,8],  i < 4   row g (+8: i odd), column t (+4: i >= 2)
//                   B [8,8],   i < 2   row t (+4: i = 1), column g
//   both            C [16,8],  i < 4   row g (+8: i >= 2), column 2t + i % 2
//
// Layouts of ldmatrix: lane 8m + r supplies the address of row r of matrix m; for [1] and [2] only
// the first 8 or 16 lanes count. Register m of a lane receives elements 2t and 2t + 1 of row g of
// matrix m; transposed, those of column g. The bf16 fragment
//   of A [16,16] is ldmatrix of its quadrants top left, bottom left, top right, bottom right;
//   of B [16,8] is ldmatrix_transposed of its halves top, bottom; if B is stored transposed,
//   [8,16], it is ldmatrix of the halves left, right.
//
// Source   PTX ISA 9, "Matrix Fragments for mma.m16n8k16 with floating point type", "Matrix
//          Fragments for mma.m16n8k8", "Warp-level matrix load instruction: ldmatrix"

namespace lab::simt {

enum class Element16 { Bf16, Fp16 };  // of 16 bits

LAB_DEVICE Float4 own_registers(const float* values) {
  return {own_register(values[0]), own_register(values[1]), own_register(values[2]),
          own_register(values[3])};
}

struct FragmentIndex {
  int row, col;
};

LAB_DEVICE constexpr FragmentIndex bf16_fragment_a(int lane_index, int i) {
  return {lane_index / 4 + (i % 4 >= 2 ? 8 : 0), lane_index % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0)};
}
LAB_DEVICE constexpr FragmentIndex bf16_fragment_b(int lane_index, int i) {
  return {lane_index % 4 * 2 + i % 2 + (i >= 2 ? 8 : 0), lane_index / 4};
}
LAB_DEVICE constexpr FragmentIndex tf32_fragment_a(int lane_index, int i) {
  return {lane_index / 4 + (i % 2 == 1 ? 8 : 0), lane_index % 4 + (i >= 2 ? 4 : 0)};
}
LAB_DEVICE constexpr FragmentIndex tf32_fragment_b(int lane_index, int i) {
  return {lane_index % 4 + (i == 1 ? 4 : 0), lane_index / 4};
}
LAB_DEVICE constexpr FragmentIndex fragment_c(int lane_index, int i) {
  return {lane_index / 4 + (i >= 2 ? 8 : 0), lane_index % 4 * 2 + i % 2};
}

template <typename T>
LAB_DEVICE T warp_sum(T value) {
  LAB_UNROLL
  for (int bits = 16; bits > 0; bits /= 2) value = value + shuffle_xor(value, bits);
  return value;
}

template <typename T>
LAB_DEVICE T warp_max(T value) {
  LAB_UNROLL
  for (int bits = 16; bits > 0; bits /= 2) {
    const T other = shuffle_xor(value, bits);
    value = other > value ? other : value;
  }
  return value;
}

}  // namespace lab::simt
