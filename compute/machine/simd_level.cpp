#include "compute/machine/simd_level.h"

#include <fmt/format.h>
#include <hwy/targets.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {
namespace {

constexpr std::array<std::string_view, 5> kTiers = {"scalar", "sse4", "avx2", "avx512", "neon"};

const char* lab_simd() {
  return std::getenv("LAB_SIMD");  // NOLINT(concurrency-mt-unsafe)
}

// Returns the targets available to dispatch. Without a cap, SupportedTargets() repeats the
// detection and resets the chosen targets, so the result is set as the choice again.
std::int64_t supported_targets() {
  const std::int64_t targets = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(targets);
  return targets;
}

#if defined(__x86_64__) || defined(__aarch64__)

std::string with_extras(const std::string& name, const std::vector<std::string>& extras) {
  std::string text = name;
  for (std::size_t i = 0; i < extras.size(); ++i) {
    text += i == 0 ? " with " : i + 1 == extras.size() ? " and " : ", ";
    text += extras[i];
  }
  return text;
}

#endif

#if defined(__x86_64__)

// Returns Highway's targets above `tier`.
std::int64_t targets_above(SimdTier tier) {
  switch (tier) {
    case SimdTier::Scalar: return (1LL << (HWY_HIGHEST_TARGET_BIT_X86 + 1)) - 1;
    case SimdTier::Sse4: return HWY_SSE4 - 1;
    case SimdTier::Avx2: return HWY_AVX2 - 1;
    case SimdTier::Avx512:
    case SimdTier::Neon: break;
  }
  return 0;
}

// DisableTargets() is not sufficient: each SupportedTargets() repeats the detection and resets the
// choice to all targets of the CPU. Targets set "for test" bypass the detection.
void cap_dispatch(SimdTier tier) {
  const std::int64_t above = targets_above(tier);
  if (above == 0) return;
  const std::int64_t left = hwy::SupportedTargets() & ~above & HWY_TARGETS;
  hwy::DisableTargets(above);
  hwy::SetSupportedTargetsForTest(left == 0 ? HWY_STATIC_TARGET : left);
}

// Returns the target that dispatch selects. Highway's better targets have lower bits.
std::int64_t chosen_target() {
  const std::int64_t targets = supported_targets() & HWY_TARGETS;
  return targets == 0 ? HWY_STATIC_TARGET : targets & -targets;
}

SimdTier used_tier() {
  const std::int64_t target = chosen_target();
  if (target < HWY_AVX2) return SimdTier::Avx512;
  if (target == HWY_AVX2) return SimdTier::Avx2;
  return target <= HWY_SSE4 ? SimdTier::Sse4 : SimdTier::Scalar;
}

struct Processor {
  SimdTier best;
  SimdLevel level;
};

Processor processor() {
  __builtin_cpu_init();
  std::vector<std::string> extras;
  const auto finish = [&](SimdTier best, const std::string& name) {
    return Processor{best, {name, with_extras(name, extras), {}}};
  };
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    if (__builtin_cpu_supports("avx512bf16")) extras.emplace_back("BF16");
    if (__builtin_cpu_supports("avx512vnni")) extras.emplace_back("VNNI");
    if (has_amx_bf16()) extras.emplace_back("AMX");
    return finish(SimdTier::Avx512, "AVX-512");
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    extras.emplace_back("FMA");
    return finish(SimdTier::Avx2, "AVX2");
  }
  if (__builtin_cpu_supports("avx")) return finish(SimdTier::Sse4, "AVX");
  if (__builtin_cpu_supports("sse4.2")) return finish(SimdTier::Sse4, "SSE4.2");
  return finish(SimdTier::Scalar, "SSE2");
}

__attribute__((target("avx"))) void clear_upper_halves_with_avx() {
  _mm256_zeroupper();
}

// Whether kernels use SSE although the processor has AVX.
bool merges_upper_halves() {
  __builtin_cpu_init();
  return chosen_target() >= HWY_SSE4 && __builtin_cpu_supports("avx") > 0;
}

bool has_avx512_bf16() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") > 0 && __builtin_cpu_supports("avx512bw") > 0 &&
         __builtin_cpu_supports("avx512vl") > 0 && __builtin_cpu_supports("avx512bf16") > 0;
}

bool is_by_intel() {
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") > 0;
}

#else

void cap_dispatch(SimdTier) {}

bool has_avx512_bf16() {
  return false;
}

bool is_by_intel() {
  return false;
}

#if defined(__aarch64__)

// The kernels use the instructions of every 64-bit ARM processor; the extras are only reported.
SimdLevel processor() {
  std::vector<std::string> extras;
  const unsigned long first = getauxval(AT_HWCAP);
  const unsigned long second = getauxval(AT_HWCAP2);
  if ((first & HWCAP_ASIMDHP) != 0) extras.emplace_back("FP16");
  if ((second & HWCAP2_BF16) != 0) extras.emplace_back("BF16");
  if ((second & HWCAP2_SVE2) != 0) {
    extras.emplace_back("SVE2");
  } else if ((first & HWCAP_SVE) != 0) {
    extras.emplace_back("SVE");
  }
  return {"NEON", with_extras("NEON", extras), {}};
}

#endif
#endif

const char* name_of(SimdTier tier) {
  switch (tier) {
    case SimdTier::Sse4: return "SSE4.2";
    case SimdTier::Avx2: return "AVX2";
    case SimdTier::Avx512: return "AVX-512";
    case SimdTier::Neon: return "NEON";
    case SimdTier::Scalar: break;
  }
  constexpr bool kPortable = HWY_STATIC_TARGET == HWY_SCALAR || HWY_STATIC_TARGET == HWY_EMU128;
  return kPortable ? "scalar" : hwy::TargetName(HWY_STATIC_TARGET);
}

}  // namespace

const char* to_string(SimdTier tier) {
  return kTiers[static_cast<std::size_t>(tier)].data();
}

std::optional<SimdTier> parse_simd_cap(const char* text) {
  if (text == nullptr || *text == '\0') return {};
  const auto found = std::find(kTiers.begin(), kTiers.end(), std::string_view(text));
  if (found != kTiers.end()) return static_cast<SimdTier>(found - kTiers.begin());
  throw Error(Errc::Usage,
              trf("LAB_SIMD is '{}', which is not a SIMD level; set it to scalar, sse4, "
                  "avx2, avx512 or neon, or unset it",
                  text));
}

std::optional<SimdTier> simd_cap() {
  return parse_simd_cap(lab_simd());
}

SimdLevel describe_simd(SimdTier used, SimdTier best, const SimdLevel& processor,
                        std::optional<SimdTier> cap) {
  if (used < std::min(best, cap.value_or(best))) {
    return {name_of(used),
            trf("{} (the processor has {}, but not all that its kernels need)", name_of(used),
                processor.detail),
            cap ? to_string(*cap) : "", cap.value_or(best) < best};
  }
  if (!cap) return processor;
  const char* value = to_string(*cap);
  if (*cap < best) {
    return {name_of(used),
            trf("{} (capped by LAB_SIMD; the processor has {})", name_of(used), processor.detail),
            value, true};
  }
  if (*cap > best) {
    return {processor.name,
            trf("{} (LAB_SIMD={} has no effect: the processor has no {})", processor.detail, value,
                name_of(*cap)),
            value};
  }
  return {processor.name, trf("{} (LAB_SIMD={})", processor.detail, value), value};
}

#if defined(__x86_64__)

SimdLevel simd_level() {
  const std::optional<SimdTier> cap = simd_cap();
  const auto [best, level] = processor();
  return describe_simd(used_tier(), best, level, cap);
}

#else

SimdLevel simd_level() {
  const std::optional<SimdTier> cap = simd_cap();
#if defined(__aarch64__)
  SimdLevel level = processor();
  if (cap == SimdTier::Neon) return describe_simd(*cap, *cap, level, cap);
#else
  SimdLevel level{"none", LAB_TEXT("none known to the lab"), {}};
#endif
  if (cap) {
    level.cap = to_string(*cap);
    level.detail =
        trf("{} (LAB_SIMD={} has no effect: it applies to x86-64 only)", level.detail, level.cap);
  }
  return level;
}

#endif

const char* simd_target() {
  const std::int64_t targets = supported_targets();
  return hwy::TargetName(targets & -targets);
}

std::string processor_numbers() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return {};
  // The extended fields, in the upper half, are 0 where they do not count.
  const unsigned family = (eax >> 8 & 0xF) + (eax >> 20 & 0xFF);
  const unsigned model = (eax >> 4 & 0xF) | (eax >> 12 & 0xF0);
  return fmt::format("family {}, model {}", family, model);
#else
  return {};
#endif
}

bool has_amx_bf16() {
#if defined(__x86_64__)
  constexpr unsigned kAmxBf16 = 1U << 22, kAmxTile = 1U << 24;  // CPUID 7.0, EDX
  constexpr unsigned kOsSaves = 1U << 27;                       // CPUID 1, ECX: XGETBV works
  constexpr unsigned kTileState = 3U << 17;                     // of XCR0: the system saves tiles
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kOsSaves) == 0) return false;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kAmxBf16) == 0 || (edx & kAmxTile) == 0) return false;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileState) == kTileState;
#else
  return false;
#endif
}

void clear_upper_halves() {
#if defined(__x86_64__)
  static const bool merges = merges_upper_halves();
  if (merges) clear_upper_halves_with_avx();
#endif
}

std::string why_no_avx512_bf16() {
  if (!has_avx512_bf16()) return tr("the processor has no AVX512-BF16 instructions");
  const SimdTier cap = simd_cap().value_or(SimdTier::Avx512);
  return cap >= SimdTier::Avx512 ? "" : trf("LAB_SIMD={} excludes AVX512-BF16", to_string(cap));
}

std::string why_bf16_products_are_f32() {
  std::string why = why_no_avx512_bf16();
  if (!why.empty() || !is_by_intel()) return why;
  return tr("its AVX512-BF16 instructions are slower than those for f32");
}

}  // namespace lab

// Highway keeps the target of the first dispatch, so the cap is applied before it. An unknown value
// is left to simd_cap() to report, where the error can be displayed. The symbol keeps this file
// linked into every program with kernels: compute/machine/CMakeLists.txt references it.
extern "C" {
extern const bool lab_simd_cap_is_applied;
const bool lab_simd_cap_is_applied = [] {
  try {
    if (const auto cap = lab::simd_cap()) lab::cap_dispatch(*cap);
    return true;
  } catch (const lab::Error&) {
    return false;
  }
}();
}
