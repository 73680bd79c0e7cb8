#include "compute/kernels/gemm/gemm.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <new>
#include <optional>
#include <vector>

#include "compute/core/error.h"
#include "compute/kernels/gemm/amx.h"
#include "compute/kernels/gemm/bf16_kernels.h"
#include "compute/kernels/gemm/gemm_kernels.h"
#include "compute/kernels/gemm/gemm_parts.h"
#include "compute/machine/simd_level.h"
#include "tests/support/compare.h"
#include "tests/support/simd_targets.h"

namespace lab {
namespace {

struct Case {
  std::int64_t m, n, k;
  bool a_transposed = false, b_transposed = false, accumulate = false;
  std::int64_t pad = 0;     // elements by which leading dimensions exceed the rows
  std::int64_t offset = 0;  // floats by which matrices start past an aligned address
};

std::string to_string(const Case& s) {
  return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
         (s.a_transposed ? " At" : "") + (s.b_transposed ? " Bt" : "") +
         (s.accumulate ? " +=" : "") + " pad " + std::to_string(s.pad) + " offset " +
         std::to_string(s.offset);
}

// A product and its memory. Elements around C hold a mark that must survive.
class Product {
 public:
  explicit Product(const Case& s, bool integers = true) : s_(s) {
    const std::int64_t a_rows = s.a_transposed ? s.k : s.m;
    const std::int64_t b_rows = s.b_transposed ? s.n : s.k;
    args_ = {.m = s.m, .n = s.n, .k = s.k};
    args_.lda = (s.a_transposed ? s.m : s.k) + s.pad;
    args_.ldb = (s.b_transposed ? s.k : s.n) + s.pad;
    args_.ldc = s.n + s.pad;
    const auto make = integers ? test::small_integers : test::uniform_values;
    a_ = make(a_rows * args_.lda + s.offset, 1);
    b_ = make(b_rows * args_.ldb + s.offset, 2);
    before_ = make(s.m * args_.ldc + s.offset, 3);
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = s.n; j < args_.ldc; ++j) at(before_, i * args_.ldc + j) = kSentinel;
    }
    args_.a = a_.data() + s.offset;
    args_.b = b_.data() + s.offset;
    args_.a_transposed = s.a_transposed;
    args_.b_transposed = s.b_transposed;
    args_.accumulate = s.accumulate;
    c_ = before_;
    args_.c = c_.data() + s.offset;
  }

  const GemmArgs& args() const { return args_; }
  const std::vector<float>& c() const { return c_; }

  void reset() { c_ = before_; }

  // Expects C within gamma_{K+1} of float64, or exact for integers, and intact marks.
  void expect_right(bool exact) {
    if (want_.empty()) compute_wanted();
    const double ku = static_cast<double>(s_.k + 1) * 0x1p-24;
    const double gamma = exact ? 0 : ku / (1 - ku);
    for (std::int64_t i = 0; i < s_.m; ++i) {
      for (std::int64_t j = 0; j < args_.ldc; ++j) {
        const float got = args_.c[i * args_.ldc + j];
        if (j >= s_.n) {
          ASSERT_EQ(got, kSentinel) << "padding at " << i << "," << j;
          continue;
        }
        const Wanted& want = want_[static_cast<std::size_t>(i * s_.n + j)];
        ASSERT_LE(std::abs(got - want.value), gamma * want.magnitude)
            << "C[" << i << "," << j << "] is " << got;
      }
    }
  }

 private:
  static constexpr float kSentinel = -12345;
  float& at(std::vector<float>& x, std::int64_t i) const {
    return x[static_cast<std::size_t>(s_.offset + i)];
  }
  struct Wanted {
    double value, magnitude;
  };
  void compute_wanted() {
    for (std::int64_t i = 0; i < s_.m; ++i) {
      for (std::int64_t j = 0; j < s_.n; ++j) {
        Wanted w{s_.accumulate ? at(before_, i * args_.ldc + j) : 0, 0};
        w.magnitude = std::abs(w.value);
        for (std::int64_t p = 0; p < s_.k; ++p) {
          const float a = args_.a[s_.a_transposed ? p * args_.lda + i : i * args_.lda + p];
          const float b = args_.b[s_.b_transposed ? j * args_.ldb + p : p * args_.ldb + j];
          const double term = double{a} * double{b};
          w.value += term;
          w.magnitude += std::abs(term);
        }
        want_.push_back(w);
      }
    }
  }

  const Case s_;
  GemmArgs args_;
  std::vector<Wanted> want_;
  std::vector<float> a_, b_, before_, c_;
};

// An array of ones that ends at the end of readable memory.
class GuardedFloats {
 public:
  explicit GuardedFloats(std::int64_t n) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
    const std::size_t readable = (bytes + page - 1) / page * page;
    size_ = readable + page;
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    auto* const end = static_cast<std::byte*>(memory_) + readable;
    if (mprotect(end, page, PROT_NONE) != 0) throw std::bad_alloc();
    data_ = reinterpret_cast<float*>(end - bytes);
    std::fill_n(data_, n, 1.0F);
  }
  ~GuardedFloats() { munmap(memory_, size_); }
  GuardedFloats(const GuardedFloats&) = delete;
  GuardedFloats& operator=(const GuardedFloats&) = delete;
  float* data() const { return data_; }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  float* data_ = nullptr;
};

class GemmTargets : public test::SimdTargetTest {};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Case& s :
       {Case{0, 3, 5}, Case{3, 0, 5}, Case{5, 4, 0}, Case{1, 1, 1}, Case{12, 32, 7},
        Case{13, 33, 1}, Case{63, 65, 1}, Case{1, 200, 50}, Case{200, 1, 50}, Case{7, 300, 25},
        Case{64, 64, 64}, Case{75, 161, 40}, Case{61, 140, 270}}) {
    for (int bits = 0; bits < 8; ++bits) {
      Case c = s;
      c.a_transposed = (bits & 1) != 0;
      c.b_transposed = (bits & 2) != 0;
      c.accumulate = (bits & 4) != 0;
      c.pad = bits % 3;
      c.offset = bits % 4;
      all.push_back(c);
    }
  }
  return all;
}

// Products of small integers on the caller.
void expect_exact(std::initializer_list<Case> cases) {
  for (const Case& s : cases) {
    SCOPED_TRACE(to_string(s));
    Product p(s);
    lab_gemm(p.args(), nullptr, {});
    p.expect_right(/*exact=*/true);
  }
}

TEST_P(GemmTargets, IsExactOnSmallIntegers) {
  ThreadPool pool({0, 0});
  for (const Case& s : cases()) {
    SCOPED_TRACE(to_string(s));
    Product p(s);
    gemm(p.args(), pool);
    p.expect_right(/*exact=*/true);
    p.reset();
    lab_gemm(p.args(), nullptr, {});
    p.expect_right(/*exact=*/true);
    p.reset();
    if (s.m == 0 || s.n == 0 || s.k == 0) continue;
    for (const GemmKernels* kernels : {&gemm_kernels(), &wide_gemm_kernels()}) {
      ASSERT_EQ(kernels->target, GetParam());
      for (const bool packs : {false, true}) {
        gemm_part(GemmOperands(p.args()), *kernels, {0, s.m}, {0, s.n}, packs, {});
        p.expect_right(/*exact=*/true);
        p.reset();
      }
    }
  }
}

// Few rows and columns, but enough terms for the threads to share.
TEST_P(GemmTargets, SplitsTheTermsOfASmallC) {
  for (const int threads : {2, 3}) {
    ThreadPool pool(std::vector<int>(static_cast<std::size_t>(threads), 0));
    for (const Case& s : {Case{6, 25, 70001, true, false, true, 1, 1}, Case{1, 1, 7001},
                          Case{20, 33, 16100, false, true, false, 2, 0}}) {
      SCOPED_TRACE(to_string(s) + " on " + std::to_string(threads));
      Product p(s);
      gemm(p.args(), pool);
      p.expect_right(/*exact=*/true);
    }
  }
}

// Each case is larger than the kernels read in place: several tiles use each strip of A and of B.
// The last two have several blocks of terms and ragged edges, and one its A and B stored
// transposed.
TEST_P(GemmTargets, PacksStripsOfAAndB) {
  expect_exact(
      {Case{200, 270, 60, false, false, false, 1024, 1}, Case{7, 601, 515, false, true, true, 3, 2},
       Case{150, 301, 515, false, false, true, 3, 2}, Case{29, 201, 601, true, true, false, 1, 3}});
}

// A small B whose rows share the sets of L1 is packed for many rows of A, but not for one strip,
// nor if it has few rows.
TEST_P(GemmTargets, PacksAliasedRowsOfB) {
  expect_exact(
      {Case{70, 472, 17, false, false, true, 552, 1}, Case{49, 320, 25, false, false, false, 704},
       Case{5, 472, 17, false, false, true, 552}, Case{70, 472, 3, false, false, false, 552}});
}

// A few rows of A, times a B that no cache close to a core holds, are multiplied in tall tiles.
// Each B is read in place or packed, by ragged tiles too; A is packed where its rows are aliased.
TEST_P(GemmTargets, MultipliesAFewRowsByALargeB) {
  expect_exact({Case{10, 1211, 1201, false, false, true, 3, 1}, Case{16, 1301, 1024},
                Case{30, 1211, 1201, false, false, false, 3, 1},
                Case{29, 1300, 1024, true, true, true}});
}

// Rows of A that share the sets of L1, times a narrow B, are read a few at a time.
TEST_P(GemmTargets, MultipliesAliasedRowsByANarrowB) {
  expect_exact({Case{31, 3, 1024}, Case{31, 8, 1024, false, true, true}});
}

TEST_P(GemmTargets, ReadsNothingPastTheMatrices) {
  for (const std::int64_t n : {1, 5, 17, 31, 33, 47}) {
    const std::int64_t m = 5, k = 3;
    const GuardedFloats a(m * k), b(k * n), c(m * n);
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        lab_gemm({.m = m,
                  .n = n,
                  .k = k,
                  .a = a.data(),
                  .lda = a_transposed ? m : k,
                  .b = b.data(),
                  .ldb = b_transposed ? k : n,
                  .c = c.data(),
                  .ldc = n,
                  .a_transposed = a_transposed,
                  .b_transposed = b_transposed},
                 nullptr, {});
      }
    }
    EXPECT_EQ(c.data()[m * n - 1], static_cast<float>(k));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, GemmTargets, testing::ValuesIn(test::simd_targets()),
                         test::simd_target_name);

// Checks the target that Highway dispatches to, also after its targets were queried. With LAB_SIMD
// set, as in CTest's simd_cap.*, this verifies that the cap holds without any action by the
// program.
TEST(SimdCap, LimitsTheDispatchedTarget) {
  const std::optional<SimdTier> cap = simd_cap();
  for (int i = 0; i < 2; ++i) {
#if defined(__x86_64__)
    std::int64_t best = 0;
    if (cap == SimdTier::Avx2) best = HWY_AVX2;
    if (cap == SimdTier::Sse4) best = HWY_SSE4;
    if (cap == SimdTier::Scalar) best = HWY_STATIC_TARGET;
    EXPECT_GE(gemm_kernels().target, best) << hwy::TargetName(gemm_kernels().target);
#endif
    EXPECT_EQ(bf16_kernels().native(), uses_amx() || why_bf16_products_are_f32().empty());
    EXPECT_EQ(simd_level().cap, cap ? to_string(*cap) : "");
    EXPECT_FALSE(test::simd_targets().empty());
  }
}

TEST(Gemm, StaysWithinTheRoundingBound) {
  ThreadPool pool({0, 0, 0});
  for (const Case& s :
       {Case{40, 50, 700}, Case{130, 260, 90, true, true, true, 3, 1}, Case{500, 20, 1500}}) {
    SCOPED_TRACE(to_string(s));
    Product p(s, /*integers=*/false);
    gemm(p.args(), pool);
    p.expect_right(/*exact=*/false);
  }
}

// Large enough for several blocks of rows, columns and terms, and for a grid of threads.
TEST(Gemm, SplitsIntoBlocksAndThreads) {
  for (const int threads : {1, 2, 3, 4, 6}) {
    ThreadPool pool(std::vector<int>(static_cast<std::size_t>(threads), 0));
    const Case s{150, 270, 700, false, true, true, 1, 1};
    SCOPED_TRACE(std::to_string(threads) + " threads");
    Product p(s);
    lab_gemm(p.args(), &pool, {});
    p.expect_right(/*exact=*/true);
  }
}

// With few terms, each thread computes whole rows of C, every other thread from its last row on. B
// is packed by the strip that comes first, and the last strip of C may have fewer rows.
TEST(Gemm, SplitsFewTermsByRows) {
  for (const int threads : {2, 3, 5}) {
    ThreadPool pool(std::vector<int>(static_cast<std::size_t>(threads), 0));
    for (const Case& s : {Case{5001, 701, 3, false, false, false, 1, 1}, Case{13, 25301, 32},
                          Case{601, 701, 30, false, true, true}, Case{3001, 117, 30, true}}) {
      SCOPED_TRACE(to_string(s) + " on " + std::to_string(threads));
      Product p(s);
      gemm(p.args(), pool);
      p.expect_right(/*exact=*/true);
    }
  }
}

// Also with few columns, which are summed in longer blocks of terms, and with few rows.
TEST(Gemm, IsBitIdenticalAcrossRunsAndThreads) {
  for (const Case& s : {Case{150, 270, 700}, Case{300, 75, 1500}, Case{500, 20, 1500},
                        Case{8, 120, 1500}, Case{16, 1301, 700}, Case{30, 1301, 700}}) {
    SCOPED_TRACE(to_string(s));
    Product first(s, /*integers=*/false);
    ThreadPool two({0, 0});
    gemm(first.args(), two);
    for (const int threads : {1, 2, 2, 5}) {
      ThreadPool pool(std::vector<int>(static_cast<std::size_t>(threads), 0));
      Product again(s, /*integers=*/false);
      gemm(again.args(), pool);
      EXPECT_EQ(first.c(), again.c()) << threads << " threads";
    }
  }
}

// Large enough for the widest tiles.
TEST(Gemm, IsBitIdenticalWithWideTiles) {
  const Case s{1501, 1517, 1003, false, false, true, 1};
  Product wide(s, /*integers=*/false), narrow(s, /*integers=*/false);
  ThreadPool pool({0, 0});
  gemm(wide.args(), pool);
  gemm_part(GemmOperands(narrow.args()), gemm_kernels(), {0, s.m}, {0, s.n}, /*packs=*/true, {});
  EXPECT_EQ(wide.c(), narrow.c());
}

TEST(Gemm, IsBitIdenticalAcrossRunsIfThreadsSplitTheTerms) {
  ThreadPool pool({0, 0, 0});
  const Case s{6, 25, 9000, true};
  Product first(s, /*integers=*/false);
  gemm(first.args(), pool);
  first.expect_right(/*exact=*/false);
  for (int run = 0; run < 3; ++run) {
    Product again(s, /*integers=*/false);
    gemm(again.args(), pool);
    EXPECT_EQ(first.c(), again.c());
  }
}

TEST(Gemm, PropagatesNaN) {
  ThreadPool pool({0});
  std::vector<float> a(4, 0), b(4, 1), c(4, 0);
  a[0] = std::numeric_limits<float>::quiet_NaN();
  gemm({.m = 2,
        .n = 2,
        .k = 2,
        .a = a.data(),
        .lda = 2,
        .b = b.data(),
        .ldb = 2,
        .c = c.data(),
        .ldc = 2},
       pool);
  EXPECT_TRUE(std::isnan(c[0]) && std::isnan(c[1]));
  EXPECT_EQ(c[2], 0);
}

TEST(Gemm, StopsOnRequest) {
  std::stop_source stop;
  stop.request_stop();
  ThreadPool pool({0, 0, 0});
  Product p({150, 270, 700});
  lab_gemm(p.args(), &pool, stop.get_token());
  Product many_terms({6, 25, 9000, true});
  lab_gemm(many_terms.args(), &pool, stop.get_token());
  EXPECT_EQ(p.c()[0], Product({150, 270, 700}).c()[0]);
}

TEST(Gemm, ReportsTheShapesOfAnInvalidCall) {
  ThreadPool pool({0});
  const auto message = [&](const GemmArgs& args) {
    try {
      gemm(args, pool);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::InvalidArgument);
      return std::string(e.what());
    }
    return std::string("no error");
  };
  float x[4] = {};
  EXPECT_NE(message({.m = 2, .n = 2, .k = 2, .a = x, .lda = 1, .b = x, .ldb = 2, .c = x, .ldc = 2})
                .find("A [2,2] lda 1"),
            std::string::npos);
  EXPECT_NE(message({.m = -1, .n = 2, .k = 2}).find("negative"), std::string::npos);
  EXPECT_NE(message({.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2}).find("no memory"),
            std::string::npos);
  EXPECT_EQ(message({}), "no error");
}

TEST(GridOfParts, HasPartsForEveryThread) {
  constexpr double kLittle = 1e6, kMuch = 1e12;
  EXPECT_EQ(grid_of_parts(nullptr, kMuch, 85, 32).size(), 1);
  for (int threads = 2; threads <= 24; ++threads) {
    const ThreadPool pool(std::vector<int>(static_cast<std::size_t>(threads), 0));
    EXPECT_EQ(grid_of_parts(&pool, kLittle, 85, 32).size(), threads);
    EXPECT_EQ(grid_of_parts(&pool, kMuch, 85, 32).size(), 4 * threads);
  }
  const ThreadPool pool({0, 0});
  EXPECT_EQ(grid_of_parts(&pool, kLittle, 100, 1).rows, 2);
  EXPECT_EQ(grid_of_parts(&pool, kLittle, 1, 100).cols, 2);
}

TEST(Piece, CoversEverythingOnce) {
  for (const std::int64_t total : {0, 1, 11, 12, 13, 100}) {
    std::int64_t at = 0;
    for (int i = 0; i < 7; ++i) {
      const Range r = piece(total, 12, 7, i);
      EXPECT_EQ(r.begin, at);
      at = r.end;
    }
    EXPECT_EQ(at, total);
  }
}

}  // namespace
}  // namespace lab
