// Tensor core operations against float64, and layouts against the tables of the PTX ISA.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "compute/gpu/cuda/kernel/simt.h"
#include "tests/compute/gpu/emulator/fault_of.h"
#include "tests/support/compare.h"

namespace lab::simt {
namespace {

bool operator==(const FragmentIndex& at, const std::pair<int, int>& want) {
  return at.row == want.first && at.col == want.second;
}

// The formulas of "Matrix Fragments for mma.m16n8k16" and "... mma.m16n8k8", element by element.
TEST(TensorCore, FragmentsMatchThePtxIsa) {
  for (int lane_id = 0; lane_id < 32; ++lane_id) {
    const int group = lane_id >> 2;
    const int in_group = lane_id % 4;
    for (int i = 0; i < 8; ++i) {
      const int row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
      const int col = i < 4 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8;
      EXPECT_TRUE(bf16_fragment_a(lane_id, i) == std::pair(row, col)) << lane_id << " a" << i;
    }
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8;
      EXPECT_TRUE(bf16_fragment_b(lane_id, i) == std::pair(row, group)) << lane_id << " b" << i;
      const int row_c = i < 2 ? group : group + 8;
      EXPECT_TRUE(fragment_c(lane_id, i) == std::pair(row_c, in_group * 2 + (i & 1)));
    }
    const std::array<std::pair<int, int>, 4> tf32_a{{{group, in_group},
                                                     {group + 8, in_group},
                                                     {group, in_group + 4},
                                                     {group + 8, in_group + 4}}};
    for (int i = 0; i < 4; ++i)
      EXPECT_TRUE(tf32_fragment_a(lane_id, i) == tf32_a[static_cast<std::size_t>(i)]);
    EXPECT_TRUE(tf32_fragment_b(lane_id, 0) == std::pair(in_group, group));
    EXPECT_TRUE(tf32_fragment_b(lane_id, 1) == std::pair(in_group + 4, group));
  }
}

// Returns the position of an element of A, B or C in its row-major matrix of `cols` columns.
std::size_t place(FragmentIndex at, std::size_t cols) {
  return static_cast<std::size_t>(at.row) * cols + static_cast<std::size_t>(at.col);
}

std::vector<double> product(const std::vector<float>& a, const std::vector<float>& b,
                            const std::vector<float>& c, std::size_t depth) {
  std::vector<double> want(c.begin(), c.end());
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 8; ++j)
      for (std::size_t k = 0; k < depth; ++k)
        want[i * 8 + j] += double{a[i * depth + k]} * double{b[k * 8 + j]};
  return want;
}

TEST(TensorCore, MultipliesRandomBf16Fragments) {
  std::vector<float> a = test::uniform_values(256, 3);
  std::vector<float> b = test::uniform_values(128, 4);
  std::vector<float> c = test::uniform_values(128, 5);
  for (std::vector<float>* values : {&a, &b})
    for (float& x : *values) x = from_bf16(to_bf16(x));
  const std::vector<double> want = product(a, b, c, 16);
  launch({.grid = {1}, .block = {32}}, [&] {
    const int me = lane();
    std::uint32_t a_bits[4];
    std::uint32_t b_bits[2];
    float sums[4];
    const auto a_at = [&](int i) { return a[place(bf16_fragment_a(me, i), 16)]; };
    const auto b_at = [&](int i) { return b[place(bf16_fragment_b(me, i), 8)]; };
    for (int r = 0; r < 4; ++r) a_bits[r] = pack_bf16(a_at(2 * r), a_at(2 * r + 1));
    for (int r = 0; r < 2; ++r) b_bits[r] = pack_bf16(b_at(2 * r), b_at(2 * r + 1));
    for (int i = 0; i < 4; ++i) sums[i] = c[place(fragment_c(me, i), 8)];
    mma_m16n8k16_bf16(sums, a_bits, b_bits);
    for (int i = 0; i < 4; ++i) c[place(fragment_c(me, i), 8)] = sums[i];
  });
  EXPECT_TRUE(test::all_close(c, want, 1e-6, 1e-7));
}

TEST(TensorCore, MultipliesRandomTf32Fragments) {
  std::vector<float> a = test::uniform_values(128, 6);
  std::vector<float> b = test::uniform_values(64, 7);
  std::vector<float> c = test::uniform_values(128, 8);
  for (std::vector<float>* values : {&a, &b})
    for (float& x : *values) x = std::bit_cast<float>(to_tf32(x));
  const std::vector<double> want = product(a, b, c, 8);
  launch({.grid = {1}, .block = {32}}, [&] {
    const int me = lane();
    std::uint32_t a_bits[4];
    std::uint32_t b_bits[2];
    float sums[4];
    for (int i = 0; i < 4; ++i) a_bits[i] = to_tf32(a[place(tf32_fragment_a(me, i), 8)]);
    for (int i = 0; i < 2; ++i) b_bits[i] = to_tf32(b[place(tf32_fragment_b(me, i), 8)]);
    for (int i = 0; i < 4; ++i) sums[i] = c[place(fragment_c(me, i), 8)];
    mma_m16n8k8_tf32(sums, a_bits, b_bits);
    for (int i = 0; i < 4; ++i) c[place(fragment_c(me, i), 8)] = sums[i];
  });
  EXPECT_TRUE(test::all_close(c, want, 1e-6, 1e-7));
}

// Four consecutive 8x8 matrices, each element equal to its position.
template <int kMatrices>
void check_ldmatrix() {
  launch({.grid = {1}, .block = {64}}, [] {
    LAB_SHARED(std::uint16_t, s, 256);
    for (int i = thread_idx().x; i < 256; i += 64) s[i] = static_cast<std::uint16_t>(i);
    sync_threads();
    const int me = lane();
    const int row = me % (8 * kMatrices);
    std::uint32_t plain[kMatrices];
    std::uint32_t transposed[kMatrices];
    ldmatrix(plain, s + row * 8);
    ldmatrix_transposed(transposed, SharedPtr<const std::uint16_t>(s) + row * 8);
    for (int m = 0; m < kMatrices; ++m) {
      const auto at = [&](int r, int c) { return static_cast<std::uint32_t>(m * 64 + r * 8 + c); };
      const int g = me / 4;
      const int t = me % 4;
      EXPECT_EQ(plain[m], at(g, 2 * t + 1) << 16 | at(g, 2 * t));
      EXPECT_EQ(transposed[m], at(2 * t + 1, g) << 16 | at(2 * t, g));
    }
  });
}

TEST(TensorCore, LdmatrixLoadsOneTwoAndFour) {
  check_ldmatrix<1>();
  check_ldmatrix<2>();
  check_ldmatrix<4>();
}

TEST(TensorCore, LdmatrixDetectsRowFaults) {
  const auto body = [](int offset, bool barrier) {
    LAB_SHARED(std::uint16_t, s, 264);
    for (int i = lane() * 8; i < (lane() == 31 ? 264 : lane() * 8 + 8); ++i) s[i] = 1;
    if (barrier) sync_warp();
    std::uint32_t r[4];
    ldmatrix(r, s + (31 - lane()) * 8 + offset);
  };
  const LaunchOptions options{.grid = {1}, .block = {32}};
  launch(options, [&] { body(0, true); });
  EXPECT_TRUE(has(fault_of(FaultKind::Misaligned, options, [&] { body(4, true); }),
                  "the row address of lane 0"));
  fault_of(FaultKind::OutOfBounds, options, [&] { body(16, true); });
  fault_of(FaultKind::Race, options, [&] { body(0, false); });
}

TEST(TensorCore, RequiresAllLanes) {
  fault_of(FaultKind::InactiveLane, {.grid = {1}, .block = {24}}, [] {
    float d[4] = {};
    const std::uint32_t a[4] = {};
    const std::uint32_t b[2] = {};
    mma_m16n8k16_bf16(d, a, b);
  });
}

TEST(Conversions, Bf16RoundsToNearestTiesToEven) {
  EXPECT_EQ(to_bf16(1.0F), 0x3f80);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f808000U)), 0x3f80);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f818000U)), 0x3f82);
  EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f808001U)), 0x3f81);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(to_bf16(-std::numeric_limits<float>::infinity()), 0xff80);
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(pack_bf16(1.0F, -2.0F), 0xc0003f80U);
}

TEST(Conversions, Fp16RoundsToNearestTiesToEven) {
  EXPECT_EQ(to_fp16(1.0F), 0x3c00);
  EXPECT_EQ(to_fp16(1 + 0x1p-11F), 0x3c00);
  EXPECT_EQ(to_fp16(1 + 0x3p-11F), 0x3c02);
  EXPECT_EQ(to_fp16(-(1 + 0x1.8p-11F)), 0xbc01);
  EXPECT_EQ(to_fp16(2 - 0x1p-12F), 0x4000);
  EXPECT_EQ(to_fp16(65519), 0x7bff);
  EXPECT_EQ(to_fp16(65520), 0x7c00);
  EXPECT_EQ(to_fp16(0x1p-14F), 0x0400);
  EXPECT_EQ(to_fp16(0x1p-14F - 0x1p-25F), 0x0400);
  EXPECT_EQ(to_fp16(-0x3p-24F), 0x8003);
  EXPECT_EQ(to_fp16(0x1p-25F), 0x0000);
  EXPECT_EQ(to_fp16(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_TRUE(std::isnan(from_fp16(to_fp16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(pack_fp16(1.0F, -2.0F), 0xc0003c00U);
  for (const std::uint32_t bits : {0U, 1U, 0x3ffU, 0x400U, 0x7bffU, 0x7c00U, 0x8001U, 0xbc01U}) {
    EXPECT_EQ(to_fp16(from_fp16(static_cast<std::uint16_t>(bits))), bits);
  }
}

TEST(Conversions, Tf32RoundsToNearestEven) {
  EXPECT_EQ(to_tf32(1.0F), 0x3f800000U);
  EXPECT_EQ(to_tf32(std::bit_cast<float>(0x3f800fffU)), 0x3f800000U);
  EXPECT_EQ(to_tf32(std::bit_cast<float>(0x3f801000U)), 0x3f800000U);
  EXPECT_EQ(to_tf32(std::bit_cast<float>(0x3f801001U)), 0x3f802000U);
  EXPECT_EQ(to_tf32(std::bit_cast<float>(0x3f803000U)), 0x3f804000U);
  EXPECT_EQ(to_tf32(std::bit_cast<float>(0xbf803000U)), 0xbf804000U);
  EXPECT_EQ(to_tf32(std::numeric_limits<float>::infinity()), 0x7f800000U);
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(to_tf32(std::nanf("")))));
}

}  // namespace
}  // namespace lab::simt
