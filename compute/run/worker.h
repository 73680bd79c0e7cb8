#pragma once
// The thread that runs experiments, one job at a time.
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

  // `factory` runs on the worker's thread; an exception it throws fails the job. `ranks` are the
  // processes that share each job.
  Worker(Machine& machine, TensorStore& tensors, Channel& channel, Factory factory, Title title,
         RankGroup& ranks = single_rank());
  // Cancels the running job, discards the queue, and joins the thread.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Queues a job and returns its id immediately. JobStarted and exactly one JobFinished follow,
  // unless the job is discarded from the queue.
  JobId submit(JobCommand command);

  // Requests cancellation of the running job; queued jobs still run. No effect when idle.
  void cancel();
  // Cancels the running job and discards the queue.
  void cancel_all();
  void pause() { control_.pause(true); }
  void resume() { control_.pause(false); }
  void stop_after_epoch() { control_.stop_after_epoch(); }
  void change(const ChangeTraining& change) { control_.change(change); }
  bool paused() const { return control_.paused(); }

  // Returns true if no job is running or queued.
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
  std::jthread thread_;  // last member: uses all of the above
};

}  // namespace lab
