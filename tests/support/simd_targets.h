#pragma once
// Runs tests once per SIMD instruction set that is compiled in and supported by the processor.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lab::test {

// Restricts Highway's dynamic dispatch to the kernels of `target` for the lifetime of the object.
// Afterwards restores the initial targets: those the processor supports and LAB_SIMD allows.
class SimdTargetCap {
 public:
  explicit SimdTargetCap(std::int64_t target) {
    all();
    choose(target);
  }
  ~SimdTargetCap() { choose(all()); }
  SimdTargetCap(const SimdTargetCap&) = delete;
  SimdTargetCap& operator=(const SimdTargetCap&) = delete;

 private:
  static std::int64_t all() {
    static const std::int64_t kAll = hwy::SupportedTargets();
    return kAll;
  }
  static void choose(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

// Best first: on x86 AVX-512 (AVX3), AVX2, SSE4; none above LAB_SIMD.
inline std::vector<std::int64_t> simd_targets() {
  return hwy::SupportedAndGeneratedTargets();
}

template <typename Body>
void for_each_simd_target(const Body& body) {
  for (const std::int64_t target : simd_targets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    const SimdTargetCap cap(target);
    body();
  }
}

// Base of TEST_P fixtures that run each case under its target:
//   class SimdRelu : public test::SimdTargetTest {};
//   INSTANTIATE_TEST_SUITE_P(Targets, SimdRelu, testing::ValuesIn(test::simd_targets()),
//                            test::simd_target_name);
class SimdTargetTest : public ::testing::TestWithParam<std::int64_t> {
 private:
  SimdTargetCap cap_{GetParam()};
};

inline std::string simd_target_name(const ::testing::TestParamInfo<std::int64_t>& info) {
  return hwy::TargetName(info.param);
}

}  // namespace lab::test
