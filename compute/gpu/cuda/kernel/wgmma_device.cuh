#pragma once
// The definitions of wgmma.h for nvcc. Include wgmma.h, not this header.
#include "compute/gpu/cuda/matmul/rungs/hopper.cuh"

namespace lab::simt {

using Box = std::uint32_t;

template <typename T>
LAB_DEVICE T* first_box(T* shared) {
  const std::uint32_t past = shared_address(shared) % kBoxAlignment;
  return past == 0 ? shared : shared + (kBoxAlignment - past) / sizeof(T);
}
template <typename T>
LAB_DEVICE Box box_at(const T* first) {
  return shared_address(first);
}

LAB_DEVICE void wgmma_begin() {
  cuda_matmul::hopper::begin_group();
}
LAB_DEVICE void wgmma_commit() {
  cuda_matmul::hopper::commit_group();
}
template <int kPending>
LAB_DEVICE void wgmma_wait() {
  cuda_matmul::hopper::wait_group<kPending>();
}

#define LAB_SUMS_OF_1(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define LAB_SUMS_OF_4(j) \
  LAB_SUMS_OF_1(j), LAB_SUMS_OF_1(j + 1), LAB_SUMS_OF_1(j + 2), LAB_SUMS_OF_1(j + 3)
#define LAB_WGMMA(columns, types, sums, a_place, b_place, a_across, b_across, ...)         \
  asm volatile(                                                                            \
      "{\n"                                                                                \
      ".reg .pred add;\n"                                                                  \
      "setp.ne.b32 add, 1, 0;\n"                                                           \
      "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32." types " {" sums "}, " a_place \
      ", " b_place ", add, 1, 1, " a_across ", " b_across                                  \
      ";\n"                                                                                \
      "}\n"                                                                                \
      : __VA_ARGS__                                                                        \
      : "l"(a), "l"(b), "n"(int{!kASlots}), "n"(int{!kBSlots}))

#define LAB_FIRST_32                                                                      \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
  "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"

#define LAB_WGMMA_64(types)                                                          \
  LAB_WGMMA("64", types, LAB_FIRST_32, "%32", "%33", "%34", "%35", LAB_SUMS_OF_4(0), \
            LAB_SUMS_OF_4(4))
#define LAB_WGMMA_128(types)                                                                  \
  LAB_WGMMA("128", types,                                                                     \
            LAB_FIRST_32                                                                      \
            ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "        \
            "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "          \
            "%60, %61, %62, %63",                                                             \
            "%64", "%65", "%66", "%67", LAB_SUMS_OF_4(0), LAB_SUMS_OF_4(4), LAB_SUMS_OF_4(8), \
            LAB_SUMS_OF_4(12))

#define LAB_WGMMA_192(types)                                                                   \
  LAB_WGMMA("192", types,                                                                      \
            LAB_FIRST_32                                                                       \
            ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "         \
            "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "           \
            "%60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, " \
            "%76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, " \
            "%92, %93, %94, %95",                                                              \
            "%96", "%97", "%98", "%99", LAB_SUMS_OF_4(0), LAB_SUMS_OF_4(4), LAB_SUMS_OF_4(8),  \
            LAB_SUMS_OF_4(12), LAB_SUMS_OF_4(16), LAB_SUMS_OF_4(20))

template <Element16 kElement, bool kASlots, bool kBSlots>
LAB_DEVICE void multiply_boxes(float (&d)[8][4], std::uint64_t a, std::uint64_t b) {
  if constexpr (kElement == Element16::Bf16) {
    LAB_WGMMA_64("bf16.bf16");
  } else {
    LAB_WGMMA_64("f16.f16");
  }
}
template <Element16 kElement, bool kASlots, bool kBSlots>
LAB_DEVICE void multiply_boxes(float (&d)[16][4], std::uint64_t a, std::uint64_t b) {
  if constexpr (kElement == Element16::Bf16) {
    LAB_WGMMA_128("bf16.bf16");
  } else {
    LAB_WGMMA_128("f16.f16");
  }
}
template <Element16 kElement, bool kASlots, bool kBSlots>
LAB_DEVICE void multiply_boxes(float (&d)[24][4], std::uint64_t a, std::uint64_t b) {
  if constexpr (kElement == Element16::Bf16) {
    LAB_WGMMA_192("bf16.bf16");
  } else {
    LAB_WGMMA_192("f16.f16");
  }
}

// The operands keep the compiler from touching the sums earlier.
LAB_DEVICE void wgmma_finish(float (&d)[8][4]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" : LAB_SUMS_OF_4(0), LAB_SUMS_OF_4(4)::"memory");
}
LAB_DEVICE void wgmma_finish(float (&d)[16][4]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;"
               : LAB_SUMS_OF_4(0), LAB_SUMS_OF_4(4), LAB_SUMS_OF_4(8), LAB_SUMS_OF_4(12)::"memory");
}
LAB_DEVICE void wgmma_finish(float (&d)[24][4]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;"
               : LAB_SUMS_OF_4(0), LAB_SUMS_OF_4(4), LAB_SUMS_OF_4(8), LAB_SUMS_OF_4(12),
                 LAB_SUMS_OF_4(16), LAB_SUMS_OF_4(20)::"memory");
}

#undef LAB_WGMMA_192
#undef LAB_WGMMA_128
#undef LAB_WGMMA_64
#undef LAB_FIRST_32
#undef LAB_WGMMA
#undef LAB_SUMS_OF_4
#undef LAB_SUMS_OF_1

// The step moves the descriptor's address, in its lowest bits, which shared memory does not fill.
template <bool kSlots>
LAB_DEVICE std::uint64_t descriptor_of(Box box, int step) {
  namespace hopper = cuda_matmul::hopper;
  constexpr int kUnit = 16;
  constexpr int kStepUnits = (kSlots ? hopper::kStepBytes : kWgmmaSlots * kBoxRowBytes) / kUnit;
  const std::uint64_t first =
      kSlots ? hopper::descriptor_rows(box, 0) : hopper::descriptor_columns(box, 0, kBoxBytes);
  const auto low =
      static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(step * kStepUnits);
  return (first >> 32) << 32 | low;
}

template <Element16 kElement, bool kASlots, bool kBSlots, int kEighths>
LAB_DEVICE void wgmma(float (&sums)[kEighths][4], Box a, Box b, int step) {
  multiply_boxes<kElement, kASlots, kBSlots>(sums, descriptor_of<kASlots>(a, step),
                                             descriptor_of<kBSlots>(b, step));
}

}  // namespace lab::simt
