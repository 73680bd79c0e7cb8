#include "app/headless/headless_lab.h"

#include <chrono>

#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/experiments/registry.h"
#include "compute/train/ranks/rank_session.h"

namespace lab::app {

HeadlessLab::HeadlessLab(const MachineOptions& options, Interrupt& interrupt, RankGroup& ranks)
    : interrupt_(interrupt),
      launched_(!ranks.single()),
      machine_(options),
      worker_(machine_, tensors_, channel_, make_experiment, job_title, ranks) {}

// mpirun sends SIGCONT some time before SIGTERM and stops reading. A job that kept printing would
// fill the pipe, and the end of the job could not be reported. The job therefore pauses until it is
// clear whether a SIGTERM follows.
void HeadlessLab::run(const JobCommand& command, Printer& printer) {
  using Clock = std::chrono::steady_clock;
  constexpr double kInterruptPollS = 0.05;
  constexpr Clock::time_point kNever = Clock::time_point::max();
  Clock::time_point resume_at = kNever;
  const JobId job = worker_.submit(command);
  bool started = false;  // the worker discards a pause sent before the start
  while (true) {
    for (const Event& event : channel_.wait_and_drain(kInterruptPollS)) {
      if (event.job != job) continue;
      printer.show(event.payload);
      if (std::holds_alternative<JobStarted>(event.payload)) started = true;
      if (const auto* finished = std::get_if<JobFinished>(&event.payload)) {
        if (finished->outcome == Outcome::Failed) throw Error(finished->code, finished->error);
        if (finished->outcome == Outcome::Cancelled) {
          throw Error(Errc::Cancelled, tr("interrupted; the printed results are valid"));
        }
        return;
      }
    }
    if (launched_ && started && interrupt_.take_continued()) {
      worker_.pause();
      resume_at = Clock::now() + launcher_grace_period() + std::chrono::seconds(1);
    }
    if (Clock::now() >= resume_at) {
      worker_.resume();
      resume_at = kNever;
    }
    if (interrupt_.requested()) worker_.cancel();
  }
}

}  // namespace lab::app
