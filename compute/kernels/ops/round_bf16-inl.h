// Rounding of FP32 vectors to bf16, to nearest, ties to even; NaN stays NaN. Compiled once per SIMD
// target; include after <hwy/highway.h>.
#if defined(LAB_ROUND_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LAB_ROUND_BF16_INL_H_
#undef LAB_ROUND_BF16_INL_H_
#else
#define LAB_ROUND_BF16_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lab::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Returns bf16 bits in the high half of each lane, zero in the low half.
template <class V, class DU = hn::RebindToUnsigned<hn::DFromV<V>>>
HWY_INLINE hn::Vec<DU> RoundBits(V value) {
  const DU du;
  const auto high_half = hn::Set(du, 0xffff0000U);
  const auto bits = hn::BitCast(du, value);
  const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1U));
  const auto rounded = hn::Add(bits, hn::Add(last, hn::Set(du, 0x7fffU)));
  const auto quiet_nan = hn::Or(bits, hn::Set(du, 0x400000U));
  const auto is_number = hn::RebindMask(du, hn::Eq(value, value));
  return hn::And(hn::IfThenElse(is_number, rounded, quiet_nan), high_half);
}

// Returns bf16 bits in half the space. On AVX-512 it uses the instruction of AVX512-BF16, which
// treats subnormal numbers as zero: the caller verifies that the processor has it.
template <class V, class DH = hn::Rebind<uint16_t, hn::DFromV<V>>>
HWY_INLINE hn::Vec<DH> NativeBf16(V value) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(value.raw) == 64) {
    __m256i halves;
    asm("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(value.raw));
    return hn::Vec<DH>{halves};
  }
#endif
  return hn::TruncateTo(DH(), hn::ShiftRight<16>(RoundBits(value)));
}

// Returns words whose low halves are the bf16 bits of `even`, and whose high halves those of `odd`.
// The same instruction set as NativeBf16.
template <class V, class DU = hn::RebindToUnsigned<hn::DFromV<V>>>
HWY_INLINE hn::Vec<DU> PairBf16(V even, V odd) {
  const DU words;
  const auto high = hn::ShiftLeft<16>(hn::PromoteTo(words, NativeBf16(odd)));
  return hn::Or(hn::PromoteTo(words, NativeBf16(even)), high);
}

}  // namespace lab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
