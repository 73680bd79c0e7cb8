#include "compute/run/worker.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "compute/machine/machine.h"
#include "compute/tensor/tensor_store.h"
#include "compute/core/error.h"

namespace lab {
namespace {

class Lambda final : public Experiment {
 public:
  explicit Lambda(std::function<void(RunContext&)> body) : body_(std::move(body)) {}
  void run(RunContext& ctx) override { body_(ctx); }

 private:
  const std::function<void(RunContext&)> body_;
};

// A worker whose every job runs `body`.
struct Bench {
  explicit Bench(std::function<void(RunContext&)> body)
      : worker(
            machine, store, channel,
            [body](const JobCommand&) { return std::make_unique<Lambda>(body); },
            [](const JobCommand&) { return std::string("job"); }) {}

  // Drains until `n` jobs have finished.
  std::vector<JobFinished> wait_for(std::size_t n) {
    std::vector<JobFinished> finished;
    while (finished.size() < n) {
      for (Event& e : channel.wait_and_drain(5)) {
        if (auto* f = std::get_if<JobFinished>(&e.payload)) finished.push_back(*f);
      }
    }
    return finished;
  }

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

TEST(Worker, AThrowingJobFailsWithItsSentenceAndTheNextOneRuns) {
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

TEST(Worker, CancelStopsTheRunningJobOnly) {
  Bench bench(spin_until_cancelled);
  bench.worker.submit(FreeTensor{});
  bench.worker.submit(FreeTensor{});
  for (int i = 0; i < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    bench.worker.cancel();
    EXPECT_EQ(bench.wait_for(1)[0].outcome, Outcome::Cancelled);
  }
}

TEST(Worker, CancelEndsAPausedJob) {
  Bench bench(spin_until_cancelled);
  bench.worker.submit(FreeTensor{});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  bench.worker.pause();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(bench.worker.paused());
  bench.worker.cancel();
  EXPECT_EQ(bench.wait_for(1)[0].outcome, Outcome::Cancelled);
}

TEST(Worker, DestructionEndsARunningJobEvenWhenNobodyReads) {
  Bench bench([](RunContext& ctx) {
    while (true) ctx.emit(LogLine{Severity::Info, "flood"}), ctx.throw_if_cancelled();
  });
  bench.worker.submit(FreeTensor{});
  bench.worker.submit(FreeTensor{});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace lab
