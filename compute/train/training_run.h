#pragma once
// The course of one training job, from the first step to the saved file, as events.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/data/dataset.h"
#include "compute/run/run_context.h"
#include "compute/train/checkpoint.h"
#include "compute/train/step_profile.h"
#include "compute/train/trainer.h"
#include "compute/train/training_job.h"

namespace lab {

// The learning rate of every step: constant, scaled with the batch, raised in a warm-up.
class LearningRate {
 public:
  // `request` is complete: lr is set.
  LearningRate(const StartTraining& request, std::int64_t steps_per_epoch);

  // Of the step's update; `step` counts from 0 over all epochs. In the warm-up it rises linearly to
  // peak(): from the unscaled rate when scaling raises it, else from 0.
  double at(std::int64_t step) const;
  double peak() const { return peak_; }

 private:
  double start_ = 0, peak_ = 0;
  double warmup_steps_ = 0;
};

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
  // `request` is complete; everything must outlive the run. `position`: where a checkpoint left
  // off. Of several processes only the first one has a sink to speak of.
  TrainingRun(const StartTraining& request, Trainer& trainer, const Dataset& data, RunContext& ctx,
              const TrainingSink& sink, const TrainingPosition& position);

  // Trains to the end. Throws Error(Cancelled), after a last checkpoint where there is a folder for
  // them; Error(InvalidArgument) when the loss or the weights leave the numbers, naming the last
  // checkpoint that did not; Error(Io) when a file cannot be written; and what another process
  // reports.
  void run();

 private:
  void train();
  void announce();
  // Returns false when the run ends here.
  bool train_epoch();
  void start_profile();
  void report_profile();
  void timed_step();
  StepResult train_step();
  void report_step(const StepResult& result, double seconds);
  void end_epoch();
  void evaluate(std::int64_t epoch);
  void save_if_due();
  void save_checkpoint();
  void write_checkpoint();
  void save_last_checkpoint();
  Error diverged(const std::string& what, double lr) const;
  void require_finite_state();
  void finish();
  void report_progress();
  bool reports() const { return ctx_.ranks().rank() == 0; }

  const StartTraining& request_;
  Trainer& trainer_;
  const Dataset& data_;
  RunContext& ctx_;
  const TrainingSink& sink_;
  BatchLoader loader_;
  const LearningRate learning_rate_;
  WorkClock clock_;
  nn::PassOptions pass_;
  std::optional<StepProfile> profile_;  // where one is asked for, in the first process
  double profile_sent_s_ = 0;
  TrainingPosition at_;
  const std::int64_t first_step_;  // steps made before this run
  std::int64_t total_steps_ = 0;
  bool stop_after_epoch_ = false;
  std::int64_t images_ = 0;
  double step_seconds_ = 0;
  std::vector<StepSplit> splits_;  // of the latest steps, for several devices
  std::int64_t saved_at_ = -1;     // step of the newest checkpoint
  std::string checkpoint_;
  std::optional<double> test_acc_;
};

}  // namespace lab
