#include "compute/gpu/library/library_environment.h"

#include <cstdlib>
#include <string_view>

#include "compute/core/language.h"

namespace lab::library {
namespace {

// Null if the variable is not set.
const char* environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

std::optional<std::string> overridden(Precision precision) {
  constexpr const char* kTf32 = "NVIDIA_TF32_OVERRIDE";
  constexpr const char* kEmulate = "CUBLAS_EMULATE_SINGLE_PRECISION";
  const char* const tf32 = environment(kTf32);
  const char* const emulate = environment(kEmulate);
  const auto is_off = [](const char* value) { return std::string_view(value) == "0"; };
  if (precision == Precision::F32) {
    if (tf32 != nullptr && !is_off(tf32)) {
      return trf(
          "{}={} in the environment lets the library round f32 to tf32; start device-lab without "
          "it",
          kTf32, tf32);
    }
    if (emulate != nullptr && !is_off(emulate)) {
      return trf(
          "{}={} in the environment lets the library compute f32 from bf16; start device-lab "
          "without it",
          kEmulate, emulate);
    }
  }
  if (precision == Precision::TF32 && tf32 != nullptr && is_off(tf32)) {
    return trf(
        "{}={} in the environment turns tf32 off in the library; start device-lab without it",
        kTf32, tf32);
  }
  return std::nullopt;
}

}  // namespace lab::library
