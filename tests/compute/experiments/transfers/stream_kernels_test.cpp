#include "compute/experiments/transfers/stream_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace lab {
namespace {

// Lengths around the vector widths and the unrolled steps, and starts on and off vector boundaries.
constexpr std::int64_t kSizes[] = {0,  1,  2,  3,  7,  8,   9,    15,  16,
                                   31, 32, 33, 63, 65, 127, 1000, 4099};
constexpr std::size_t kOffsets[] = {0, 1, 3, 7};
constexpr double kGuard = -77;

std::vector<double> numbers(std::size_t n, double first) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = first + static_cast<double>(i * i % 1013);
  return values;
}

// Calls test(n, offset, stores) for every combination.
template <typename Test>
void for_every_shape(const Test& test) {
  for (const std::int64_t n : kSizes) {
    for (const std::size_t offset : kOffsets) {
      for (const Stores stores : {Stores::Cached, Stores::Streaming}) {
        SCOPED_TRACE(::testing::Message() << "n " << n << ", offset " << offset << ", streaming "
                                          << (stores == Stores::Streaming));
        test(n, offset, stores);
      }
    }
  }
}

// Expects `expected(i)` in [offset, offset + n) and the guard everywhere else.
template <typename Expected>
void expect_only(const std::vector<double>& got, std::size_t offset, std::int64_t n,
                 const Expected& expected) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool inside = i >= offset && i < offset + static_cast<std::size_t>(n);
    ASSERT_EQ(got[i], inside ? expected(i) : kGuard) << "at " << i;
  }
}

TEST(StreamKernels, ReadSumsEveryBitPattern) {
  const std::vector<double> values = numbers(5000, 0.1);
  for_every_shape([&](std::int64_t n, std::size_t offset, Stores) {
    std::uint64_t want = 0;
    for (std::size_t i = offset; i < offset + static_cast<std::size_t>(n); ++i) {
      want += std::bit_cast<std::uint64_t>(values[i]);
    }
    EXPECT_EQ(stream_kernels().read(values.data() + offset, n), want);
  });
}

TEST(StreamKernels, WriteFillsExactlyTheRange) {
  for_every_shape([](std::int64_t n, std::size_t offset, Stores stores) {
    std::vector<double> a(4200, kGuard);
    stream_kernels().write(a.data() + offset, 2.5, n, stores);
    expect_only(a, offset, n, [](std::size_t) { return 2.5; });
  });
}

TEST(StreamKernels, CopyMatchesTheReference) {
  const std::vector<double> from = numbers(4200, 3);
  for_every_shape([&](std::int64_t n, std::size_t offset, Stores stores) {
    std::vector<double> to(4200, kGuard);
    stream_kernels().copy(to.data() + offset, from.data() + 5, n, stores);
    expect_only(to, offset, n, [&](std::size_t i) { return from[i - offset + 5]; });
  });
}

TEST(StreamKernels, TriadMatchesTheReference) {
  const std::vector<double> b = numbers(4200, 3), c = numbers(4200, 9);
  for_every_shape([&](std::int64_t n, std::size_t offset, Stores stores) {
    std::vector<double> a(4200, kGuard);
    stream_kernels().triad(a.data() + offset, b.data() + 1, c.data() + 2, 3, n, stores);
    expect_only(a, offset, n,
                [&](std::size_t i) { return b[i - offset + 1] + 3 * c[i - offset + 2]; });
  });
}

}  // namespace
}  // namespace lab
