#pragma once
// What vector instructions the processor offers, in the words people use.
#include <string>

namespace lab {

struct SimdLevel {
  std::string name;    // "AVX-512", "AVX2", "SSE4.2", "SSE2", "NEON"
  std::string detail;  // "AVX-512 with BF16 and VNNI"
};

// Of the processor this runs on.
SimdLevel simd_level();

}  // namespace lab
