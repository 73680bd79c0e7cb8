#pragma once
// One training job from the first step to the saved file, reported as events.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/error.h"
#include "compute/data/dataset.h"
#include "compute/run/run_context.h"
#include "compute/train/checkpoint.h"
#include "compute/train/insight.h"
#include "compute/train/step_profile.h"
#include "compute/train/step_recorder.h"
#include "compute/train/trainer.h"
#include "compute/train/training_job.h"

namespace lab {

// Learning rate of every step: optionally scaled with the batch, raised during warm-up, then
// constant or falling.
class LearningRate {
 public:
  // `request` must be complete: lr is set.
  LearningRate(const StartTraining& request, std::int64_t steps_per_epoch);

  // Returns the rate of a step's update; `step` counts from 0 over all epochs. During warm-up the
  // rate rises linearly to peak(), from the unscaled rate if scaling raises it, otherwise from 0.
  // With a linear schedule it then falls by equal amounts and would be 0 after the last epoch.
  double at(std::int64_t step) const;
  double peak() const { return peak_; }

 private:
  double start_ = 0, peak_ = 0;
  double warmup_steps_ = 0;
  std::optional<double> end_;  // step at which a falling rate is 0
};

// Measures seconds of work: time spent waiting is excluded.
class WorkClock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count() - waited_s_;
  }
  void leave_out(double waited_s) { waited_s_ += waited_s; }
  double waited_s() const { return waited_s_; }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
  double waited_s_ = 0;
};

class TrainingRun {
 public:
  // `request` must be complete; the references must outlive the run. `resumed` is where a
  // checkpoint left off. With several processes, only the first one's sink receives results, and
  // settings cannot be changed while it runs. `timeline_warmup`: as for run_training().
  TrainingRun(const StartTraining& request, Trainer& trainer, const Dataset& data, RunContext& ctx,
              const TrainingSink& sink, ResumedTraining resumed, std::int64_t timeline_warmup);

  // Trains to the end. Throws Error(Cancelled), after writing a last checkpoint if there is a
  // folder for checkpoints; Error(InvalidArgument) if the loss or the weights become non-finite,
  // naming the last finite checkpoint; Error(Io) if a file cannot be written; and failures
  // announced by another process.
  void run();

 private:
  void train();
  void announce();
  // Returns false if the run ends here.
  bool train_epoch();
  bool reached_accuracy() const;
  void start_profile();
  void report_profile();
  void wait_while_paused();
  std::int64_t length() const;
  void check_length(const StartTraining& request) const;
  void take_changes();
  StartTraining changed_request(const ChangeTraining& change);
  void report_changes(const StartTraining& before);
  void timed_step();
  bool runs_ahead() const;
  bool record_due() const;
  void take_timeline(const StepResult& result, double begin_s, double seconds);
  void write_trace();
  std::string name_of(const RankDevice& one) const;
  void report_idle_devices();
  void report_full_devices();
  void report_insight(const StepResult& result);
  void report_first_layer();
  std::int64_t most_queued() const;
  void step_ahead();
  void finish_queued();
  void report_queued();
  StepResult train_step();
  void require_finite(const StepResult& result) const;
  void report_step(const StepResult& result, double seconds);
  void end_epoch();
  void evaluate(std::int64_t epoch);
  void save_if_due();
  void save_checkpoint();
  void write_gathered();
  void save_result();
  void write_checkpoint();
  std::int64_t next_step() const { return at_.steps + queued(); }
  std::int64_t queued() const { return static_cast<std::int64_t>(trainer_.queued()); }
  void save_last_checkpoint();
  Error diverged(const std::string& what, double lr) const;
  void require_finite_state();
  void finish();
  double share_done(double steps, double evaluations) const;
  void report_progress();
  void report_test(double done, std::int64_t epoch);
  bool reports() const { return ctx_.ranks().rank() == 0; }

  StartTraining request_;  // as changed while it runs
  Trainer& trainer_;
  const Dataset& data_;
  RunContext& ctx_;
  const TrainingSink& sink_;
  BatchLoader loader_;
  LearningRate learning_rate_;
  WorkClock clock_;
  nn::PassOptions pass_;
  std::optional<StepProfile> profile_;  // if requested, in the first process only
  double profile_sent_s_ = 0;
  std::optional<TraceSteps> trace_;  // if requested, in the first process only
  const std::int64_t timeline_warmup_;
  std::optional<double> timeline_sent_s_, insight_sent_s_;
  Insight insight_;  // the latest
  TrainingPosition at_;
  std::vector<TrainingChanged> changes_;
  std::string idle_devices_;                        // as reported last
  std::vector<Trainer::FullDevice> full_devices_;   // reported
  std::string sum_remark_ = trainer_.sum_remark();  // the same
  const std::int64_t first_step_;                   // steps made before this run
  std::int64_t begun_epoch_ = 0;                    // the latest epoch of which steps were made
  std::int64_t total_steps_ = 0;
  bool stop_after_epoch_ = false;
  std::int64_t images_ = 0;
  double step_seconds_ = 0;
  bool in_series_ = false;  // steps follow each other on the GPU
  double last_gpu_s_ = 0;   // of the latest of them
  std::optional<double> last_step_s_;
  std::vector<StepSplit> splits_;  // of the latest steps, with several devices
  std::int64_t saved_at_ = -1;     // step of the newest checkpoint
  std::string checkpoint_;
  std::optional<double> test_acc_, reached_s_;
};

}  // namespace lab
