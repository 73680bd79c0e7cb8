#include <gtest/gtest.h>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "compute/experiments/transfers/transfer_case.h"

namespace lab {
namespace {

TransferSeries series_of(TransferOp op, int threads, Device from = cpu(0), Device to = cpu(0)) {
  return {from, to, MemoryKind::Pageable, op, threads};
}

constexpr TransferOp kOps[] = {TransferOp::Read, TransferOp::Write, TransferOp::Copy,
                               TransferOp::Triad};
constexpr std::int64_t kBytes[] = {0, 8, 64, 72, 1000, 65544, 9 * kMiB + 8};

TEST(CpuCase, IsCorrectForEveryOperationSizeAndThreadCount) {
  Machine machine;
  const int all = machine.at(cpu()).threads().size();
  for (const TransferOp op : kOps) {
    for (const std::int64_t bytes : kBytes) {
      for (const int threads : {1, all}) {
        SCOPED_TRACE(describe(series_of(op, threads)) + ", " + format_bytes(bytes));
        const auto one = make_cpu_case(machine, series_of(op, threads), bytes, {});
        one->operate();
        EXPECT_EQ(one->check(), "");
        one->operate();
        EXPECT_EQ(one->check(), "");
        one->poison();
        if (bytes > 0) {
          EXPECT_NE(one->check(), "");
        }
      }
    }
  }
}

TEST(CpuCase, CopiesBetweenDevices) {
  Machine machine({.cpu_devices = 2});
  const TransferSeries series = series_of(TransferOp::Copy, 1, cpu(1), cpu(0));
  const auto copy = make_cpu_case(machine, series, kMiB, {});
  EXPECT_EQ(machine.at(cpu(1)).memory().used_bytes(), kMiB);
  EXPECT_EQ(machine.at(cpu(0)).memory().used_bytes(), kMiB);
  EXPECT_NE(copy->check(), "");
  copy->operate();
  EXPECT_EQ(copy->check(), "");
}

TEST(CpuCase, ReleasesItsMemory) {
  Machine machine;
  { const auto triad = make_cpu_case(machine, series_of(TransferOp::Triad, 1), kMiB, {}); }
  EXPECT_EQ(machine.at(cpu()).memory().used_bytes(), 0);
  EXPECT_EQ(machine.at(cpu()).memory().peak_bytes(), 3 * kMiB);
}

TEST(CpuCase, StreamsOnlyBeyondTheCaches) {
  constexpr std::int64_t kCache = kMiB;
  EXPECT_EQ(choose_stores(TransferOp::Copy, kCache / 2 - 8, kCache), Stores::Cached);
  EXPECT_EQ(choose_stores(TransferOp::Copy, kCache / 2, kCache), Stores::Streaming);
  EXPECT_EQ(choose_stores(TransferOp::Write, kCache, kCache), Stores::Cached);
  EXPECT_EQ(choose_stores(TransferOp::Write, 2 * kCache, kCache), Stores::Streaming);
}

TEST(CpuCase, RejectsSizesThatDoNotFit) {
  Machine machine;
  try {
    make_cpu_case(machine, series_of(TransferOp::Copy, 1), std::int64_t{1} << 46, {});
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::OutOfMemory);
    EXPECT_EQ(std::string(error.what()).rfind("needs 2 arrays of 64.0 TiB: ", 0), 0U)
        << error.what();
  }
  EXPECT_EQ(machine.at(cpu()).memory().used_bytes(), 0);
}

TEST(CpuCase, StopsOnRequest) {
  Machine machine;
  std::stop_source stop;
  stop.request_stop();
  const auto copy = make_cpu_case(machine, series_of(TransferOp::Copy, 1), kMiB, stop.get_token());
  copy->operate();  // returns without copying
}

// Nearly correct kernels: each has the smallest possible fault.
StreamKernels faulty() {
  StreamKernels kernels = stream_kernels();
  kernels.read = [](const double* a, std::int64_t n) {
    return stream_kernels().read(a, n) + (n > 1000 ? 1 : 0);
  };
  kernels.write = [](double* a, double value, std::int64_t n, Stores stores) {
    stream_kernels().write(a, value, n - 1, stores);
  };
  kernels.copy = [](double* to, const double* from, std::int64_t n, Stores stores) {
    stream_kernels().copy(to, from, n, stores);
    to[n / 2] += 1;
  };
  kernels.triad = [](double* a, const double* b, const double* c, double q, std::int64_t n,
                     Stores stores) { stream_kernels().triad(a, c, b, q, n, stores); };
  return kernels;
}

TEST(CpuCase, DetectsInjectedFaults) {
  Machine machine;
  const StreamKernels kernels = faulty();
  for (const TransferOp op : kOps) {
    const auto one = make_cpu_case(machine, series_of(op, 1), 64 * kKiB, {}, kernels);
    one->operate();
    EXPECT_NE(one->check(), "") << to_string(op);
  }
  const auto write =
      make_cpu_case(machine, series_of(TransferOp::Write, 1), 64 * kKiB, {}, kernels);
  write->operate();
  EXPECT_EQ(write->check(), "element 8191 of 8192 is -1, not 1");
}

}  // namespace
}  // namespace lab
