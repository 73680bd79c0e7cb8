// Programs without a fault, and their results.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "compute/gpu/emulator/launch.h"
#include "tests/compute/gpu/emulator/example_kernels.cuh"
#include "tests/support/compare.h"

namespace lab {
namespace {

using namespace simt_examples;
using simt::GlobalArray;

TEST(SimtPrograms, TransposesRaggedMatrices) {
  for (const auto& [rows, cols] :
       std::vector<std::pair<int, int>>{{1, 1}, {8, 8}, {9, 23}, {40, 3}}) {
    for (const bool reversed : {false, true}) {
      SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(cols));
      std::vector<float> values(static_cast<std::size_t>(rows * cols));
      std::iota(values.begin(), values.end(), 1.0F);
      GlobalArray<float> in("in", values);
      GlobalArray<float> out("out", values.size());
      const TransposeArgs args{in.data(), out.data(), rows, cols};
      simt::launch({.grid = {(cols + 7) / 8, (rows + 7) / 8},
                    .block = {8, 8},
                    .arrays = {in.input(), out},
                    .last_thread_first = reversed},
                   [&] { transpose_body<8>(args); });
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c)
          EXPECT_EQ(out[static_cast<std::size_t>(c * rows + r)],
                    in[static_cast<std::size_t>(r * cols + c)]);
    }
  }
}

TEST(SimtPrograms, ReducesABlock) {
  std::vector<int> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int>(i * 7919 % 513) - 300;
  GlobalArray<int> in("in", values);
  GlobalArray<int> sum("sum", 1);
  GlobalArray<int> max("max", 1);
  sum[0] = 0;
  max[0] = -1000;
  const ReduceArgs args{in.data(), 1000, sum.data(), max.data()};
  simt::launch({.grid = {3}, .block = {128}, .arrays = {in.input(), sum, max}},
               [&] { reduce_body<128>(args); });
  EXPECT_EQ(sum[0], std::accumulate(values.begin(), values.end(), 0));
  EXPECT_EQ(max[0], *std::max_element(values.begin(), values.end()));
}

TEST(SimtPrograms, ScansWithShuffles) {
  std::vector<float> values(256);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 31 % 17);
  GlobalArray<float> in("in", values);
  GlobalArray<float> out("out", values.size());
  simt::launch({.grid = {1}, .block = {256}, .arrays = {in.input(), out}}, [&] {
    scan_body({in.data(), out.data()});
  });
  float sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    EXPECT_EQ(out[i], sum) << i;
  }
}

TEST(SimtPrograms, CountsWithAtomics) {
  std::vector<std::uint8_t> values(777);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::uint8_t>(i * i % HistogramArgs::kBins);
  GlobalArray<std::uint8_t> in("values", values);
  GlobalArray<std::uint32_t> counts("counts", HistogramArgs::kBins);
  counts.fill(0);
  simt::launch({.grid = {2}, .block = {96}, .arrays = {in.input(), counts}}, [&] {
    histogram_body({in.data(), 777, counts.data()});
  });
  for (int b = 0; b < HistogramArgs::kBins; ++b)
    EXPECT_EQ(counts[static_cast<std::size_t>(b)], std::count(values.begin(), values.end(), b))
        << b;
}

TEST(SimtPrograms, MultipliesATileOnTensorCores) {
  const auto bits = [](std::int64_t n, std::uint32_t seed) {
    std::vector<std::uint16_t> out;
    for (const float x : test::uniform_values(n, seed)) out.push_back(simt::to_bf16(x));
    return out;
  };
  GlobalArray<std::uint16_t> a("A", bits(256, 1));
  GlobalArray<std::uint16_t> b("B", bits(128, 2));
  GlobalArray<float> c("C", 128);
  simt::launch({.grid = {1}, .block = {32}, .arrays = {a.input(), b.input(), c}}, [&] {
    tensor_tile_body({a.data(), b.data(), c.data()});
  });
  std::vector<double> want(128, 0);
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 8; ++j)
      for (std::size_t k = 0; k < 16; ++k)
        want[i * 8 + j] +=
            double{simt::from_bf16(a[i * 16 + k])} * double{simt::from_bf16(b[k * 8 + j])};
  EXPECT_TRUE(test::all_close(c.values(), want, 1e-6, 1e-7));
}

}  // namespace
}  // namespace lab
