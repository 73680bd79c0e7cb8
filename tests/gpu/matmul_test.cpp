// Compares every rung of a GPU, libraries included, with float64 through the backend interface, and
// measures the GPU's peak rate in each precision.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "compute/core/error.h"
#include "tests/gpu/gpu_machine.h"
#include "tests/gpu/gpu_product.h"

namespace lab::test {
namespace {

constexpr std::array kPrecisions = {Precision::F32, Precision::TF32, Precision::BF16};

Multiply by(const RungInfo& rung) {
  return [&rung](const GpuProduct& product, GpuStream& stream) {
    GpuMatmul& matmul = first_gpu().matmul();
    auto why = matmul.unsupported(rung, product);
    if (!why) matmul.run(rung, product, stream);
    return why;
  };
}

// Skips the test and reports the rungs for which `attempt` returns a reason.
template <class Attempt>
void for_each_rung(const Attempt& attempt) {
  std::string skipped;
  for (const RungInfo& rung : first_gpu().matmul().rungs()) {
    SCOPED_TRACE(rung.title);
    if (const auto why = attempt(rung)) skipped += rung.title + ": " + *why + "\n";
  }
  if (!skipped.empty()) GTEST_SKIP() << skipped;
}

TEST(GpuMatmul, EveryRungIsExactOnSmallIntegers) {
  LAB_REQUIRE_GPU();
  for_each_rung(
      [](const RungInfo& rung) { return try_ragged_products(rung.takes.front(), by(rung)); });
}

TEST(GpuMatmul, EveryRungStaysWithinErrorBound) {
  LAB_REQUIRE_GPU();
  for_each_rung([](const RungInfo& rung) {
    return try_product(rung.takes.front(), {300, 520, 264}, 0, Values::Uniform, by(rung));
  });
}

TEST(GpuMatmul, SupportsConcurrentThreads) {
  LAB_REQUIRE_GPU();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      try {
        for (const RungInfo& rung : first_gpu().matmul().rungs()) {
          try_product(rung.takes.front(), {65 + i, 72, 64}, 0, Values::SmallIntegers, by(rung));
        }
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
}

TEST(GpuMatmul, RejectsRowsLongerThanLeadingDimension) {
  LAB_REQUIRE_GPU();
  const GpuProduct wrong{.m = 8, .n = 8, .k = 8, .lda = 7, .ldb = 8, .ldc = 8};
  GpuMatmul& matmul = first_gpu().matmul();
  for (const RungInfo& rung : matmul.rungs()) {
    EXPECT_THROW((void)matmul.unsupported(rung, wrong), Error) << rung.title;
  }
}

// Returns FLOP/s once the clock has ramped up; 0 if the GPU lacks instructions for this precision.
double peak_rate(Precision precision) {
  constexpr std::int64_t kRounds = 20'000;
  GpuMatmul& matmul = first_gpu().matmul();
  const auto stream = first_gpu().make_stream();
  const auto begin = first_gpu().make_event(), end = first_gpu().make_event();
  if (!matmul.run_peak(precision, kRounds, *stream)) return 0;
  begin->record(*stream);
  const auto flop = matmul.run_peak(precision, kRounds, *stream);
  end->record(*stream);
  stream->synchronise();
  return flop.value() / end->seconds_since(*begin);
}

// Dense FLOP per clock and SM for compute capability 9.0.
double peak_flop_per_clock_sm90(Precision precision) {
  switch (precision) {
    case Precision::F32: return 256;
    case Precision::TF32: return 2048;
    case Precision::BF16: return 4096;
  }
  return 0;
}

TEST(GpuMatmul, PeakIsPlausible) {
  LAB_REQUIRE_GPU();
  const GpuProperties& facts = first_gpu().facts();
  if (facts.clock_max_mhz <= 0) GTEST_SKIP() << facts.name << " reports no clock";
  const double clocks = facts.clock_max_mhz * 1e6 * facts.multiprocessors;
  for (const Precision precision : kPrecisions) {
    SCOPED_TRACE(to_string(precision));
    const double rate = peak_rate(precision);
    RecordProperty(std::string("tflops_") + to_string(precision), std::to_string(rate * 1e-12));
    if (facts.compute_major != 9) {
      EXPECT_EQ(rate == 0, facts.compute_major < 8 && precision != Precision::F32);
      continue;
    }
    EXPECT_LT(rate, 1.02 * peak_flop_per_clock_sm90(precision) * clocks);
    EXPECT_GT(rate,
              0.5 * peak_flop_per_clock_sm90(precision) * clocks);  // at the clock to which the
                                                                    // power limit may reduce it
  }
}

TEST(GpuMatmul, PeakOfZeroRoundsDoesNothing) {
  LAB_REQUIRE_GPU();
  EXPECT_EQ(first_gpu().matmul().run_peak(Precision::F32, 0, first_gpu().main_stream()), 0);
}

}  // namespace
}  // namespace lab::test
