#include "compute/experiments/transfers/transfer_run.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"
#include "compute/core/units.h"

namespace lab {
namespace {

TransferSeries series_of(TransferOp op, int threads, Device from = cpu(0), Device to = cpu(0)) {
  return {from, to, MemoryKind::Pageable, op, threads};
}

constexpr TransferOp kOps[] = {TransferOp::Read, TransferOp::Write, TransferOp::Copy,
                               TransferOp::Triad};
constexpr std::int64_t kBytes[] = {0, 8, 64, 72, 1000, 65544, 9 * kMiB + 8};

TEST(TransferRun, IsRightForEveryOperationSizeAndThreadCount) {
  Machine machine;
  const int all = machine.at(cpu()).threads().size();
  for (const TransferOp op : kOps) {
    for (const std::int64_t bytes : kBytes) {
      for (const int threads : {1, all}) {
        SCOPED_TRACE(describe(series_of(op, threads)) + ", " + format_bytes(bytes));
        TransferRun run(machine, series_of(op, threads), bytes, {});
        run.operate();
        EXPECT_EQ(run.check(), "");
        run.operate();
        EXPECT_EQ(run.check(), "");
        run.spoil();
        if (bytes > 0) {
          EXPECT_NE(run.check(), "");
        }
      }
    }
  }
}

TEST(TransferRun, CopiesBetweenDevices) {
  Machine machine({.cpu_devices = 2});
  const TransferSeries series = series_of(TransferOp::Copy, 1, cpu(1), cpu(0));
  TransferRun run(machine, series, kMiB, {});
  EXPECT_EQ(machine.at(cpu(1)).memory().used_bytes(), kMiB);
  EXPECT_EQ(machine.at(cpu(0)).memory().used_bytes(), kMiB);
  EXPECT_NE(run.check(), "");
  run.operate();
  EXPECT_EQ(run.check(), "");
}

TEST(TransferRun, GivesItsMemoryBack) {
  Machine machine;
  { const TransferRun run(machine, series_of(TransferOp::Triad, 1), kMiB, {}); }
  EXPECT_EQ(machine.at(cpu()).memory().used_bytes(), 0);
  EXPECT_EQ(machine.at(cpu()).memory().peak_bytes(), 3 * kMiB);
}

TEST(TransferRun, StreamsOnlyPastTheCaches) {
  Machine machine;
  EXPECT_EQ(TransferRun(machine, series_of(TransferOp::Copy, 1), kKiB, {}).stores(),
            Stores::Cached);
}

TEST(TransferRun, RefusesWhatDoesNotFit) {
  Machine machine;
  try {
    const TransferRun run(machine, series_of(TransferOp::Copy, 1), std::int64_t{1} << 46, {});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::OutOfMemory);
  }
  EXPECT_EQ(machine.at(cpu()).memory().used_bytes(), 0);
}

TEST(TransferRun, StopsOnRequest) {
  Machine machine;
  std::stop_source stop;
  stop.request_stop();
  TransferRun run(machine, series_of(TransferOp::Copy, 1), kMiB, stop.get_token());
  run.operate();  // does nothing and returns
}

// Kernels that are almost right: each fault is of the smallest kind.
TransferKernels faulty() {
  TransferKernels kernels = transfer_kernels();
  kernels.read = [](const double* a, std::int64_t n) {
    return transfer_kernels().read(a, n) + (n > 1000 ? 1 : 0);
  };
  kernels.write = [](double* a, double value, std::int64_t n, Stores stores) {
    transfer_kernels().write(a, value, n - 1, stores);
  };
  kernels.copy = [](double* to, const double* from, std::int64_t n, Stores stores) {
    transfer_kernels().copy(to, from, n, stores);
    to[n / 2] += 1;
  };
  kernels.triad = [](double* a, const double* b, const double* c, double q, std::int64_t n,
                     Stores stores) { transfer_kernels().triad(a, c, b, q, n, stores); };
  return kernels;
}

TEST(TransferRun, CatchesPlantedFaults) {
  Machine machine;
  const TransferKernels kernels = faulty();
  for (const TransferOp op : kOps) {
    TransferRun run(machine, series_of(op, 1), 64 * kKiB, {}, kernels);
    run.operate();
    EXPECT_NE(run.check(), "") << to_string(op);
  }
  TransferRun write(machine, series_of(TransferOp::Write, 1), 64 * kKiB, {}, kernels);
  write.operate();
  EXPECT_EQ(write.check(), "element 8191 of 8192 is -1, not 1");
}

}  // namespace
}  // namespace lab
