#pragma once
// The one thread that runs experiments, one job after the other.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "compute/core/events/command.h"
#include "compute/run/channel.h"
#include "compute/run/experiment.h"
#include "compute/run/run_context.h"

namespace lab {

class Worker {
 public:
  using Factory = std::function<std::unique_ptr<Experiment>(const JobCommand&)>;
  using Title = std::function<std::string(const JobCommand&)>;

  // `factory` runs on the worker's thread; what it throws fails the job.
  // Jobs see `ranks` as the processes that share them.
  Worker(Machine& machine, TensorStore& tensors, Channel& channel, Factory factory, Title title,
         RankGroup& ranks = single_rank());
  // Cancels what runs, forgets what waits, joins.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Queues a job and returns its id at once. JobStarted and exactly one JobFinished follow.
  JobId submit(JobCommand command);

  // Asks the running job to stop; the jobs behind it still run. Nothing happens when idle.
  void cancel();
  // The same, and the waiting jobs are forgotten.
  void cancel_all();
  void pause() { control_.pause(true); }
  void resume() { control_.pause(false); }
  void stop_after_epoch() { control_.stop_after_epoch(); }
  bool paused() const { return control_.paused(); }

  // True when no job runs or waits.
  bool idle() const;

 private:
  struct Job {
    JobId id;
    JobCommand command;
  };
  void loop(std::stop_token stop);
  void run_job(const Job& job, std::stop_token stop);

  Machine& machine_;
  TensorStore& tensors_;
  Channel& channel_;
  RankGroup& ranks_;
  const Factory factory_;
  const Title title_;
  RunControl control_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> queue_;
  bool running_ = false;
  std::stop_source job_stop_;
  JobId next_id_ = 1;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace lab
