// Rounding to bf16, and products of rounded numbers by the FP32 kernels.
#include "compute/kernels/gemm/bf16_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "compute/kernels/gemm/gemm_kernels.h"
#include "compute/kernels/gemm/peak.h"
#include "compute/machine/simd_level.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/kernels/gemm/bf16_kernels.cpp"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

#include "compute/kernels/ops/round_bf16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lab {
namespace HWY_NAMESPACE {
namespace {  // other files define the same names for this target
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using DU = hn::RebindToUnsigned<D>;
using VU = hn::Vec<DU>;
constexpr int kRoundLanes = hn::MaxLanes(D());

std::uint32_t RoundOne(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return (bits | 0x400000U) & 0xffff0000U;
  return (bits + 0x7fffU + ((bits >> 16) & 1U)) & 0xffff0000U;
}

void RoundRow(const float* in, std::uint32_t* out, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kRoundLanes <= n; i += kRoundLanes) {
    hn::StoreU(RoundBits(hn::LoadU(D(), in + i)), DU(), out + i);
  }
  for (; i < n; ++i) {
    const std::uint32_t word = RoundOne(in[i]);
    std::memcpy(out + i, &word, sizeof(word));
  }
}

void RoundToHalf(const float* in, std::uint16_t* out, std::int64_t n) {
  const hn::Rebind<std::uint16_t, DU> half;
  std::int64_t i = 0;
  for (; i + kRoundLanes <= n; i += kRoundLanes) {
    const VU bits = hn::ShiftRight<16>(RoundBits(hn::LoadU(D(), in + i)));
    hn::StoreU(hn::TruncateTo(half, bits), half, out + i);
  }
  for (; i < n; ++i) out[i] = static_cast<std::uint16_t>(RoundOne(in[i]) >> 16);
}

void TileOfF32(const Bf16TileArgs& t) {
  gemm_kernels().tile({.k = t.steps,
                       .a = reinterpret_cast<const float*>(t.a),
                       .a_row_stride = t.a_row_stride,
                       .a_k_stride = t.a_k_stride,
                       .b = reinterpret_cast<const float*>(t.b),
                       .b_k_stride = t.b_k_stride,
                       .c = t.c,
                       .ldc = t.ldc,
                       .rows = t.rows,
                       .cols = t.cols,
                       .tiles = t.tiles,
                       .b_tile_stride = t.b_tile_stride,
                       .accumulate = t.accumulate,
                       .fetches_b = true});
}

void PackF32(const Bf16PackArgs<float>& p) {
  auto* const out = reinterpret_cast<float*>(p.out);
  gemm_kernels().pack({.source = p.source,
                       .strip_stride = p.strip_stride,
                       .k_stride = p.k_stride,
                       .k = p.terms,
                       .valid = p.valid,
                       .width = p.width,
                       .out = out});
  RoundRow(out, p.out, p.terms * p.width);
}

void PackBf16(const Bf16PackArgs<std::uint16_t>& p) {
  // Runs of terms, because rows of a strip may be so far apart that they evict each other.
  constexpr std::int64_t kRun = 32;
  for (std::int64_t first = 0; first < p.terms; first += kRun) {
    const std::int64_t end = std::min(first + kRun, p.terms);
    for (int i = 0; i < p.width; ++i) {
      const bool inside = i < p.valid;
      const std::uint16_t* from = p.source + (inside ? i * p.strip_stride : 0);
      for (std::int64_t q = first; q < end; ++q) {
        p.out[q * p.width + i] = inside ? std::uint32_t{from[q * p.k_stride]} << 16 : 0;
      }
    }
  }
}

const Bf16Kernels* F32KernelsOfBf16() {
  static const Bf16Kernels kKernels{.name = "FP32",
                                    .terms_per_word = 1,
                                    .mr = gemm_kernels().mr,
                                    .nr = gemm_kernels().nr,
                                    .lanes = gemm_kernels().lanes,
                                    .by_rows = false,
                                    .block_steps = 512,
                                    .tile = &TileOfF32,
                                    .pack_f32 = &PackF32,
                                    .pack_bf16 = &PackBf16,
                                    .round_row = &RoundRow,
                                    .peak_loop = &fma_loop};
  return &kKernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lab
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lab {

HWY_EXPORT(F32KernelsOfBf16);
HWY_EXPORT(RoundToHalf);

const Bf16Kernels& f32_kernels_of_bf16() {
  return *HWY_DYNAMIC_DISPATCH(F32KernelsOfBf16)();
}

const Bf16Kernels& bf16_kernels() {
  static const Bf16Kernels* const kNative = [] {
    const Bf16Kernels* const amx = amx_kernels();
    if (amx != nullptr || !why_bf16_products_are_f32().empty()) return amx;
    return avx512_bf16_kernels();
  }();
  const Bf16Kernels& as_f32 = f32_kernels_of_bf16();
  // Callers that cap the instruction set below AVX-512, such as tests, get the FP32 kernels.
  const bool uncapped = kNative != nullptr && as_f32.lanes == kNative->lanes;
  return uncapped ? *kNative : as_f32;
}

void to_bf16(const float* in, std::uint16_t* out, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(RoundToHalf)(in, out, n);
}

}  // namespace lab
#endif
