#pragma once
// The course of one training job, from the first step to the saved file, as events.
#include <chrono>
#include <optional>
#include <string>

#include "compute/data/dataset.h"
#include "compute/run/run_context.h"
#include "compute/train/trainer.h"

namespace lab {

// Seconds of work: what was spent waiting is taken out.
class WorkClock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count() - waited_s_;
  }
  void leave_out(double waited_s) { waited_s_ += waited_s; }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
  double waited_s_ = 0;
};

class TrainingRun {
 public:
  // `request` is complete; everything must outlive the run.
  TrainingRun(const StartTraining& request, Trainer& trainer, const Dataset& data, RunContext& ctx);

  // Trains to the end. Throws Error(Cancelled), Error(InvalidArgument) when the loss leaves the
  // numbers, Error(Io) when the file cannot be written.
  void run();

 private:
  void announce();
  // Returns false when the run ends here.
  bool train_epoch(std::int64_t epoch);
  void report_step(const StepResult& result, std::int64_t epoch, double seconds);
  void evaluate(std::int64_t epoch);
  void finish();
  void report_progress(std::int64_t epoch);

  const StartTraining& request_;
  Trainer& trainer_;
  const Dataset& data_;
  RunContext& ctx_;
  BatchLoader loader_;
  WorkClock clock_;
  nn::PassOptions pass_;
  std::int64_t total_steps_ = 0;
  std::int64_t steps_ = 0, images_ = 0;
  double step_seconds_ = 0;
  std::optional<double> test_acc_;
};

}  // namespace lab
