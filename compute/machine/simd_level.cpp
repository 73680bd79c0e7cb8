#include "compute/machine/simd_level.h"

#include <vector>

namespace lab {

#if defined(__x86_64__)

namespace {

std::string with_extras(const std::string& name, const std::vector<std::string>& extras) {
  std::string text = name;
  for (std::size_t i = 0; i < extras.size(); ++i) {
    text += i == 0 ? " with " : i + 1 == extras.size() ? " and " : ", ";
    text += extras[i];
  }
  return text;
}

}  // namespace

SimdLevel simd_level() {
  __builtin_cpu_init();
  std::vector<std::string> extras;
  const auto finish = [&](const std::string& name) {
    return SimdLevel{name, with_extras(name, extras)};
  };
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd")) {
    if (__builtin_cpu_supports("avx512bf16")) extras.emplace_back("BF16");
    if (__builtin_cpu_supports("avx512vnni")) extras.emplace_back("VNNI");
    return finish("AVX-512");
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    extras.emplace_back("FMA");
    return finish("AVX2");
  }
  if (__builtin_cpu_supports("avx")) return finish("AVX");
  if (__builtin_cpu_supports("sse4.2")) return finish("SSE4.2");
  return finish("SSE2");
}

#elif defined(__aarch64__)

SimdLevel simd_level() {
  return {"NEON", "NEON"};
}

#else

SimdLevel simd_level() {
  return {"none", "none that the lab knows of"};
}

#endif

}  // namespace lab
