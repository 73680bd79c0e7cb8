#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compute/tensor/random.h"
#include "tests/compute/gpu/emulator/device/emulated_gpu.h"

namespace lab::test {
namespace {

TEST(EmulatedOps, FillsWithTheRandomNumbersOfTheCpu) {
  EmulatedPair gpus;
  for (const std::int64_t count : {1, 5, 1030}) {
    for (const GpuFillKind kind : {GpuFillKind::Uniform, GpuFillKind::Normal}) {
      GpuFloats x(gpus.gpu, count);
      gpus.gpu.fill({.kind = kind,
                     .dtype = DType::F32,
                     .seed = 3,
                     .first = 2,
                     .to = x.bytes(),
                     .count = count},
                    gpus.main);
      const RandomStream random{3, 0};
      const std::vector<float> values = x.values(gpus.main);
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(values[i],
                  kind == GpuFillKind::Normal ? random.normal(i + 2) : random.uniform(i + 2));
      }
    }
  }
}

TEST(EmulatedOps, FillsAndAddsEveryType) {
  EmulatedPair gpus;
  for (const DType dtype : {DType::F32, DType::BF16, DType::I32, DType::I64, DType::U8}) {
    GpuFloats x(gpus.gpu, 600);
    gpus.gpu.fill({.kind = GpuFillKind::Arange, .dtype = dtype, .to = x.bytes(), .count = 100},
                  gpus.main);
    gpus.gpu.add({dtype, x.bytes(), x.bytes(), x.bytes(), 100}, gpus.main);
    EXPECT_DOUBLE_EQ(gpus.gpu.norm({dtype, x.bytes(), 100}, gpus.main), 2 * std::sqrt(328350.0))
        << static_cast<int>(dtype);
  }
}

TEST(EmulatedOps, NormsOfManyBlocksAreExactOnIntegers) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 10000);
  const float two = 2;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &two, sizeof bits);
  gpus.gpu.fill({.dtype = DType::F32, .bits = bits, .to = x.bytes(), .count = 10000}, gpus.main);
  EXPECT_EQ(gpus.gpu.norm({DType::F32, x.bytes(), 10000}, gpus.main), 200.0);
}

TEST(EmulatedOps, LayersRunOnTheSameKernels) {
  EmulatedPair gpus;
  GpuFloats x(gpus.gpu, 4);
  const std::vector<float> values = {-1, 2, -3, 4};
  x.write(values, gpus.main);
  gpus.gpu.layers().activation_forward({.kind = GpuActivation::Relu, .count = 4, .x = x.data()},
                                       gpus.main);
  EXPECT_EQ(x.values(gpus.main), (std::vector<float>{0, 2, 0, 4}));
}

}  // namespace
}  // namespace lab::test
