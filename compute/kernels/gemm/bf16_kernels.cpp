// The portable bf16 kernels, which widen each pair to two FP32 numbers where it is used.
#include "compute/kernels/gemm/bf16_kernels.h"

#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "compute/kernels/gemm/peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/gemm/bf16_kernels.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lab {
namespace HWY_NAMESPACE {
namespace {  // other files define the same names for this target
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using DU = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;
using VU = hn::Vec<DU>;

// MR*NV accumulators, NV vectors of B and two of A must fit in the 32 (AVX-512) or 16 registers.
#if HWY_TARGET <= HWY_AVX3
constexpr int kMr = 12;
#else
constexpr int kMr = 4;
#endif
constexpr int kNv = 2;
constexpr int kLanes = hn::MaxLanes(D());
constexpr int kNr = kNv * kLanes;

HWY_INLINE V EvenTerms(VU pairs) {
  return hn::BitCast(D(), hn::ShiftLeft<16>(pairs));
}

HWY_INLINE V OddTerms(VU pairs) {
  return hn::BitCast(D(), hn::And(pairs, hn::Set(DU(), 0xffff0000U)));
}

// Stores the columns of the last vector that are inside the tile.
HWY_INLINE void AddPartial(const V value, int cols, bool accumulate, float* c) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(value, D(), lanes);
  for (int j = 0; j < cols; ++j) c[j] = accumulate ? c[j] + lanes[j] : lanes[j];
}

template <int kRows, int kVecs>
void Tile(const Bf16TileArgs& t) {
  const D d;
  const DU du;
  V acc[kRows][kVecs];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) acc[i][v] = hn::Zero(d);
  }

  const std::uint32_t* HWY_RESTRICT a = t.a;
  const std::uint32_t* HWY_RESTRICT b = t.b;
  for (std::int64_t p = 0; p < t.k_pairs; ++p, a += t.a_k_stride, b += t.b_k_stride) {
    V even[kVecs], odd[kVecs];
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      const VU pairs = hn::LoadU(du, b + v * kLanes);
      even[v] = EvenTerms(pairs);
      odd[v] = OddTerms(pairs);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const VU pairs = hn::Set(du, a[i * t.a_row_stride]);
      const V a_even = EvenTerms(pairs);
      const V a_odd = OddTerms(pairs);
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) {
        acc[i][v] = hn::MulAdd(a_odd, odd[v], hn::MulAdd(a_even, even[v], acc[i][v]));
      }
    }
  }

  const int partial = t.cols - (kVecs - 1) * kLanes;  // columns of the last vector, 1..lanes
  const int whole = partial == kLanes ? kVecs : kVecs - 1;
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    float* c = t.c + i * t.ldc;
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v, c += kLanes) {
      if (v >= whole) {
        AddPartial(acc[i][v], partial, t.accumulate, c);
      } else if (t.accumulate) {
        hn::StoreU(hn::Add(acc[i][v], hn::LoadU(d, c)), d, c);
      } else {
        hn::StoreU(acc[i][v], d, c);
      }
    }
  }
}

using TileFunction = void (*)(const Bf16TileArgs&);

// Every smaller tile has its own kernel, at index (rows - 1) * kNv + vectors - 1.
template <int... kIndex>
constexpr std::array<TileFunction, sizeof...(kIndex)> MakeTiles(
    std::integer_sequence<int, kIndex...>) {
  return {&Tile<kIndex / kNv + 1, kIndex % kNv + 1>...};
}

void AnyTile(const Bf16TileArgs& t) {
  static constexpr auto kTiles = MakeTiles(std::make_integer_sequence<int, kMr * kNv>());
  const int vectors = (t.cols + kLanes - 1) / kLanes;
  kTiles[static_cast<std::size_t>((t.rows - 1) * kNv + vectors - 1)](t);
}

// Returns bf16 bits in the low half of each lane.
HWY_INLINE VU RoundBits(V value) {
  const DU du;
  const VU bits = hn::BitCast(du, value);
  const VU high = hn::ShiftRight<16>(bits);
  const VU to_even = hn::Add(hn::And(high, hn::Set(du, 1U)), hn::Set(du, 0x7fffU));
  const VU rounded = hn::ShiftRight<16>(hn::Add(bits, to_even));
  const VU quiet_nan = hn::Or(high, hn::Set(du, 0x40U));
  const auto is_number = hn::RebindMask(du, hn::Eq(value, value));
  return hn::IfThenElse(is_number, rounded, quiet_nan);
}

std::uint32_t RoundOne(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return (bits >> 16) | 0x40U;
  return (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
}

std::uint32_t BitsOf(float x) {
  return RoundOne(x);
}

std::uint32_t BitsOf(std::uint16_t x) {
  return x;
}

HWY_INLINE VU LoadBits(const float* x) {
  return RoundBits(hn::LoadU(D(), x));
}

HWY_INLINE VU LoadBits(const std::uint16_t* x) {
  return hn::PromoteTo(DU(), hn::LoadU(hn::Rebind<std::uint16_t, DU>(), x));
}

// The strip is contiguous in memory: two rows at a time become one row of pairs.
template <typename T>
void PackAlongStrip(const PairPackArgs<T>& p) {
  for (std::int64_t q = 0; q < p.terms; q += 2) {
    const T* even = p.source + q * p.k_stride;
    const bool is_pair = q + 1 < p.terms;
    const T* odd = is_pair ? even + p.k_stride : even;
    std::uint32_t* out = p.out + q / 2 * p.width;
    int i = 0;
    for (; is_pair && i + kLanes <= p.valid; i += kLanes) {
      hn::StoreU(hn::Or(LoadBits(even + i), hn::ShiftLeft<16>(LoadBits(odd + i))), DU(), out + i);
    }
    for (; i < p.valid; ++i) out[i] = BitsOf(even[i]) | (is_pair ? BitsOf(odd[i]) << 16 : 0U);
    for (; i < p.width; ++i) out[i] = 0;
  }
}

// The strip is strided; its terms are contiguous.
template <typename T>
void PackAcrossStrip(const PairPackArgs<T>& p) {
  const std::int64_t pairs = (p.terms + 1) / 2;
  for (int i = 0; i < p.width; ++i) {
    const T* from = p.source + i * p.strip_stride;
    const std::int64_t whole = i < p.valid ? p.terms / 2 : 0;
    for (std::int64_t q = 0; q < whole; ++q) {
      p.out[q * p.width + i] = BitsOf(from[2 * q]) | BitsOf(from[2 * q + 1]) << 16;
    }
    for (std::int64_t q = whole; q < pairs; ++q) {
      p.out[q * p.width + i] = i < p.valid ? BitsOf(from[2 * q]) : 0U;
    }
  }
}

template <typename T>
void Pack(const PairPackArgs<T>& p) {
  if (p.strip_stride == 1) {
    PackAlongStrip(p);
  } else {
    PackAcrossStrip(p);
  }
}

void Round(const float* HWY_RESTRICT in, std::uint16_t* HWY_RESTRICT out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<std::uint16_t>(RoundOne(in[i]));
}

const Bf16Kernels* PortableBf16Kernels() {
  static constexpr Bf16Kernels kKernels{.name = "portable",
                                        .native = false,
                                        .mr = kMr,
                                        .nr = kNr,
                                        .lanes = kLanes,
                                        .tile = &AnyTile,
                                        .pack_f32 = &Pack<float>,
                                        .pack_bf16 = &Pack<std::uint16_t>,
                                        .round = &Round,
                                        .peak_loop = &fma_loop};
  return &kKernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lab
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab {

HWY_EXPORT(PortableBf16Kernels);

const Bf16Kernels& portable_bf16_kernels() {
  return *HWY_DYNAMIC_DISPATCH(PortableBf16Kernels)();
}

const Bf16Kernels& bf16_kernels() {
  static const Bf16Kernels* const kNative = native_bf16_kernels();
  const Bf16Kernels& portable = portable_bf16_kernels();
  // Callers that cap the instruction set below AVX-512, such as tests, get the portable kernels.
  const bool uncapped = kNative != nullptr && portable.lanes == kNative->lanes;
  return uncapped ? *kNative : portable;
}

void to_bf16(const float* in, std::uint16_t* out, std::int64_t n) {
  bf16_kernels().round(in, out, n);
}

}  // namespace lab
#endif
