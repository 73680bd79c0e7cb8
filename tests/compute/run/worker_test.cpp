#include "compute/run/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/machine/machine.h"
#include "compute/tensor/tensor_store.h"

namespace lab {
namespace {

class Lambda final : public Experiment {
 public:
  explicit Lambda(std::function<void(RunContext&)> body) : body_(std::move(body)) {}
  void run(RunContext& ctx) override { body_(ctx); }

 private:
  const std::function<void(RunContext&)> body_;
};

// A worker that runs `body` for every job.
struct Bench {
  explicit Bench(std::function<void(RunContext&)> body)
      : worker(
            machine, store, channel,
            [body](const JobCommand&) { return std::make_unique<Lambda>(body); },
            [](const JobCommand&) { return std::string("job"); }) {}

  void read() {
    for (const Event& e : channel.wait_and_drain(5)) {
      if (std::holds_alternative<JobStarted>(e.payload)) ++started;
      if (const auto* f = std::get_if<JobFinished>(&e.payload)) finished.push_back(*f);
    }
  }

  // Reads until `n` jobs have started in total.
  void wait_for_starts(int n) {
    while (started < n) read();
  }

  // Reads until `n` jobs have finished since the last call.
  std::vector<JobFinished> wait_for(std::size_t n) {
    while (finished.size() < n) read();
    return std::exchange(finished, {});
  }

  int started = 0;
  std::vector<JobFinished> finished;
  Machine machine;
  TensorStore store;
  Channel channel;
  Worker worker;
};

void spin_until_cancelled(RunContext& ctx) {
  while (true) {
    ctx.checkpoint();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Worker, RunsJobsInOrder) {
  Bench bench([](RunContext& ctx) { ctx.emit(LogLine{Severity::Info, "ran"}); });
  EXPECT_EQ(bench.worker.submit(FreeTensor{}), 1);
  EXPECT_EQ(bench.worker.submit(FreeTensor{}), 2);
  const auto finished = bench.wait_for(2);
  for (const JobFinished& f : finished) EXPECT_EQ(f.outcome, Outcome::Done);
}

TEST(Worker, ReportsFailureAndRunsTheNextJob) {
  int calls = 0;
  Bench bench([&calls](RunContext&) {
    switch (calls++) {
      case 0: throw Error(Errc::InvalidArgument, "matmul: no");
      case 1: throw std::runtime_error("odd");
      case 2: throw 7;
      default: break;
    }
  });
  for (int i = 0; i < 4; ++i) bench.worker.submit(FreeTensor{});
  const auto finished = bench.wait_for(4);
  EXPECT_EQ(finished[0].error, "matmul: no");
  EXPECT_EQ(finished[0].code, Errc::InvalidArgument);
  EXPECT_EQ(finished[1].error, "internal error: odd");
  EXPECT_EQ(finished[2].outcome, Outcome::Failed);
  EXPECT_EQ(finished[2].code, Errc::Internal);
  EXPECT_EQ(finished[3].outcome, Outcome::Done);
}

TEST(Worker, CancelStopsOnlyTheRunningJob) {
  Bench bench(spin_until_cancelled);
  bench.worker.submit(FreeTensor{});
  bench.worker.submit(FreeTensor{});
  for (int i = 1; i <= 2; ++i) {
    bench.wait_for_starts(i);
    bench.worker.cancel();
    EXPECT_EQ(bench.wait_for(1)[0].outcome, Outcome::Cancelled);
  }
}

TEST(Worker, CancelEndsAPausedJob) {
  std::atomic<bool> paused = false, waits = false;
  Bench bench([&](RunContext& ctx) {
    while (!paused) std::this_thread::yield();
    waits = true;
    spin_until_cancelled(ctx);
  });
  bench.worker.submit(FreeTensor{});
  bench.wait_for_starts(1);
  bench.worker.pause();
  paused = true;
  while (!waits) std::this_thread::yield();
  EXPECT_TRUE(bench.worker.paused());
  bench.worker.cancel();
  EXPECT_EQ(bench.wait_for(1)[0].outcome, Outcome::Cancelled);
}

TEST(Worker, DestructionEndsAJobWithoutAReader) {
  std::atomic<bool> running = false;
  Bench bench([&running](RunContext& ctx) {
    running = true;
    while (true) ctx.emit(LogLine{Severity::Info, "flood"}), ctx.throw_if_cancelled();
  });
  bench.worker.submit(FreeTensor{});
  bench.worker.submit(FreeTensor{});
  while (!running) std::this_thread::yield();
}

}  // namespace
}  // namespace lab
