#include "compute/kernels/gemm/gemm_bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/experiments/matmul/reference.h"
#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/kernels/gemm/gemm_parts.h"
#include "compute/tensor/tensor.h"
#include "tests/support/compare.h"
#include "tests/support/counting_new.h"
#include "tests/support/simd_targets.h"
#include "tests/support/thread_sanitizer.h"

namespace lab {
namespace {

constexpr float kUntouched = -12345;

struct Bf16Case {
  std::int64_t m, n, k;
  bool a_transposed = false, b_transposed = false, accumulate = false;
  std::int64_t pad = 0;  // elements by which leading dimensions exceed the rows
};

std::string to_string(const Bf16Case& s) {
  return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
         (s.a_transposed ? " At" : "") + (s.b_transposed ? " Bt" : "") +
         (s.accumulate ? " +=" : "") + " pad " + std::to_string(s.pad);
}

// The same product from FP32 matrices, rounded on the fly, and from bf16 matrices. Elements around
// C hold a mark that must survive.
class Bf16Product {
 public:
  Bf16Product(const Bf16Case& s, bool integers) : s_(s) {
    rounded_ = {.m = s.m, .n = s.n, .k = s.k};
    rounded_.lda = (s.a_transposed ? s.m : s.k) + s.pad;
    rounded_.ldb = (s.b_transposed ? s.k : s.n) + s.pad;
    rounded_.ldc = s.n + s.pad;
    const auto make = integers ? test::small_integers : test::uniform_values;
    a_ = make((s.a_transposed ? s.k : s.m) * rounded_.lda + 1, 1);
    b_ = make((s.b_transposed ? s.n : s.k) * rounded_.ldb + 1, 2);
    before_ = make(s.m * rounded_.ldc + 1, 3);
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = s.n; j < rounded_.ldc; ++j) before_[index(i, j)] = kUntouched;
    }
    for (const float x : a_) a_bits_.push_back(to_bf16(x).bits);
    for (const float x : b_) b_bits_.push_back(to_bf16(x).bits);
    c_ = before_;
    rounded_.a = a_.data() + 1;  // misaligned
    rounded_.b = b_.data() + 1;
    rounded_.c = c_.data();
    rounded_.a_transposed = s.a_transposed;
    rounded_.b_transposed = s.b_transposed;
    rounded_.accumulate = s.accumulate;
    rounded_.products = Precision::BF16;
    compute_reference();
  }

  const GemmArgs& rounded() const { return rounded_; }
  Bf16GemmArgs bf16() const {
    const GemmArgs& g = rounded_;
    return {.m = g.m,
            .n = g.n,
            .k = g.k,
            .a = a_bits_.data() + 1,
            .lda = g.lda,
            .b = b_bits_.data() + 1,
            .ldb = g.ldb,
            .c = g.c,
            .ldc = g.ldc,
            .a_transposed = g.a_transposed,
            .b_transposed = g.b_transposed,
            .accumulate = g.accumulate};
  }
  const std::vector<float>& c() const { return c_; }

  // Expects C within gamma_{K+1} of float64 with the rounded operands, or exact for integers.
  // Restores C afterwards.
  void expect_right_bf16(bool exact) {
    const double ku = static_cast<double>(s_.k + 1) * 0x1p-24;
    const double gamma = exact ? 0 : ku / (1 - ku);
    for (std::int64_t i = 0; i < s_.m; ++i) {
      for (std::int64_t j = 0; j < rounded_.ldc; ++j) {
        const float got = c_[index(i, j)];
        if (j >= s_.n) {
          ASSERT_EQ(got, kUntouched) << "padding at " << i << "," << j;
          continue;
        }
        const std::size_t at = index(i, j);
        ASSERT_LE(std::abs(got - want_[at]), gamma * magnitude_[at])
            << "C[" << i << "," << j << "]";
      }
    }
    c_ = before_;
  }

 private:
  // Computes in float64 with the rounded operands, once for all code paths and targets.
  void compute_reference() {
    want_.resize(c_.size());
    magnitude_.resize(c_.size());
    std::vector<double> column(static_cast<std::size_t>(s_.k));
    for (std::int64_t j = 0; j < s_.n; ++j) {
      for (std::int64_t q = 0; q < s_.k; ++q) column[static_cast<std::size_t>(q)] = b(q, j);
      for (std::int64_t i = 0; i < s_.m; ++i) {
        double want = s_.accumulate ? before_[index(i, j)] : 0;
        double magnitude = std::abs(want);
        for (std::int64_t q = 0; q < s_.k; ++q) {
          const double term = a(i, q) * column[static_cast<std::size_t>(q)];
          want += term;
          magnitude += std::abs(term);
        }
        want_[index(i, j)] = want;
        magnitude_[index(i, j)] = magnitude;
      }
    }
  }
  std::size_t index(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * rounded_.ldc + j);
  }
  double a(std::int64_t i, std::int64_t q) const {
    const std::int64_t at = s_.a_transposed ? q * rounded_.lda + i : i * rounded_.lda + q;
    return to_float(Bf16{a_bits_[static_cast<std::size_t>(at + 1)]});
  }
  double b(std::int64_t q, std::int64_t j) const {
    const std::int64_t at = s_.b_transposed ? j * rounded_.ldb + q : q * rounded_.ldb + j;
    return to_float(Bf16{b_bits_[static_cast<std::size_t>(at + 1)]});
  }

  const Bf16Case s_;
  GemmArgs rounded_;
  std::vector<float> a_, b_, before_, c_;
  std::vector<std::uint16_t> a_bits_, b_bits_;
  std::vector<double> want_, magnitude_;
};

std::vector<Bf16Case> bf16_cases() {
  std::vector<Bf16Case> all;
  for (const Bf16Case& s : {Bf16Case{0, 3, 5}, Bf16Case{3, 0, 5}, Bf16Case{5, 4, 0},
                            Bf16Case{1, 1, 1}, Bf16Case{12, 32, 7}, Bf16Case{13, 33, 2},
                            Bf16Case{63, 65, 1}, Bf16Case{1, 200, 51}, Bf16Case{200, 1, 50},
                            Bf16Case{64, 64, 64}, Bf16Case{75, 161, 41}, Bf16Case{61, 140, 271}}) {
    for (int bits = 0; bits < 8; ++bits) {
      Bf16Case c = s;
      c.a_transposed = (bits & 1) != 0;
      c.b_transposed = (bits & 2) != 0;
      c.accumulate = (bits & 4) != 0;
      c.pad = bits % 3;
      all.push_back(c);
    }
  }
  return all;
}

void expect_all_ways_exact(Bf16Product& p, ThreadPool& pool) {
  gemm(p.rounded(), pool);
  p.expect_right_bf16(/*exact=*/true);
  lab_gemm(p.rounded(), nullptr, {});
  p.expect_right_bf16(/*exact=*/true);
  bf16_gemm(p.bf16(), &pool);
  p.expect_right_bf16(/*exact=*/true);
}

TEST(Bf16Gemm, IsExactOnSmallIntegersOnEveryTarget) {
  SKIP_UNDER_THREAD_SANITIZER();
  ThreadPool pool({0, 0});
  for (const Bf16Case& s : bf16_cases()) {
    SCOPED_TRACE(to_string(s));
    Bf16Product p(s, /*integers=*/true);
    test::for_each_simd_target([&] { expect_all_ways_exact(p, pool); });
  }
}

TEST(Bf16Gemm, StaysWithinTheRoundingBound) {
  ThreadPool pool({0, 0, 0});
  for (const Bf16Case& s : {Bf16Case{40, 50, 701}, Bf16Case{130, 260, 90, true, true, true, 3}}) {
    SCOPED_TRACE(to_string(s));
    Bf16Product p(s, /*integers=*/false);
    gemm(p.rounded(), pool);
    p.expect_right_bf16(/*exact=*/false);
    bf16_gemm(p.bf16(), &pool);
    p.expect_right_bf16(/*exact=*/false);
  }
}

// Large enough for several blocks of terms and a grid of threads; K is odd.
TEST(Bf16Gemm, SplitsIntoBlocksAndThreads) {
  Bf16Product p({100, 150, 1501, false, true, true, 1}, /*integers=*/true);
  for (const int threads : {1, 2, 3, 4}) {
    ThreadPool pool(std::vector<int>(static_cast<std::size_t>(threads), 0));
    SCOPED_TRACE(std::to_string(threads) + " threads");
    gemm(p.rounded(), pool);
    p.expect_right_bf16(/*exact=*/true);
  }
}

TEST(Bf16Gemm, IsBitIdenticalAcrossRunsThreadsAndSources) {
  const Bf16Case s{150, 270, 701};
  Bf16Product first(s, /*integers=*/false);
  ThreadPool two({0, 0});
  gemm(first.rounded(), two);
  for (const int threads : {1, 2, 2, 5}) {
    ThreadPool pool(std::vector<int>(static_cast<std::size_t>(threads), 0));
    Bf16Product again(s, /*integers=*/false);
    bf16_gemm(again.bf16(), &pool);
    EXPECT_EQ(first.c(), again.c()) << threads << " threads";
  }
}

TEST(Bf16Gemm, PropagatesNaN) {
  std::vector<float> a(6, 0), b(6, 1), c(4, 0);
  a[0] = std::numeric_limits<float>::quiet_NaN();
  lab_gemm({.m = 2,
            .n = 2,
            .k = 3,
            .a = a.data(),
            .lda = 3,
            .b = b.data(),
            .ldb = 2,
            .c = c.data(),
            .ldc = 2,
            .products = Precision::BF16},
           nullptr, {});
  EXPECT_TRUE(std::isnan(c[0]) && std::isnan(c[1]));
  EXPECT_EQ(c[2], 0);
}

TEST(Bf16Gemm, StopsOnRequest) {
  std::stop_source stop;
  stop.request_stop();
  ThreadPool pool({0, 0, 0});
  Bf16Product p({150, 270, 700}, /*integers=*/true);
  const std::vector<float> before(p.c().begin(), p.c().end());
  bf16_gemm(p.bf16(), &pool, stop.get_token());
  EXPECT_EQ(p.c(), before);
}

TEST(Bf16Gemm, AllocatesNothingAfterTheFirstCall) {
  ThreadPool pool({0, 0});
  Bf16Product p({200, 200, 201}, /*integers=*/true);
  gemm(p.rounded(), pool);
  bf16_gemm(p.bf16(), &pool);
  const long before = test::allocation_count();
  gemm(p.rounded(), pool);
  bf16_gemm(p.bf16(), &pool);
  EXPECT_EQ(test::allocation_count() - before, 0);
}

TEST(Bf16Gemm, ReportsTheShapesOfAnInvalidCall) {
  const auto message = [](auto call) {
    try {
      call();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::InvalidArgument);
      return std::string(e.what());
    }
    return std::string("no error");
  };
  ThreadPool pool({0});
  const std::uint16_t x[4] = {};
  float c[4] = {};
  const Bf16GemmArgs short_rows{
      .m = 2, .n = 2, .k = 2, .a = x, .lda = 1, .b = x, .ldb = 2, .c = c, .ldc = 2};
  EXPECT_NE(message([&] { bf16_gemm(short_rows, nullptr); }).find("A [2,2] lda 1"),
            std::string::npos);
  EXPECT_NE(message([&] { gemm({.products = Precision::TF32}, pool); }).find("tf32"),
            std::string::npos);
  EXPECT_EQ(message([&] { bf16_gemm({}, nullptr); }), "no error");
}

}  // namespace
}  // namespace lab
