#include "app/headless/headless_lab.h"

#include "compute/run/registry.h"
#include "compute/types/error.h"

namespace lab::app {

HeadlessLab::HeadlessLab(const MachineOptions& options, Interrupt& interrupt, RankGroup& ranks)
    : interrupt_(interrupt),
      machine_(options),
      worker_(machine_, tensors_, channel_, make_experiment, job_title, ranks) {}

void HeadlessLab::run(const JobCommand& command, Printer& printer) {
  constexpr double kInterruptPollS = 0.05;
  const JobId job = worker_.submit(command);
  while (true) {
    for (const Event& event : channel_.wait_and_drain(kInterruptPollS)) {
      if (event.job != job) continue;
      printer.show(event.payload);
      if (const auto* finished = std::get_if<JobFinished>(&event.payload)) {
        if (finished->outcome == Outcome::Failed) throw Error(finished->code, finished->error);
        if (finished->outcome == Outcome::Cancelled) {
          throw Error(Errc::Cancelled, "interrupted; what was printed stays");
        }
        return;
      }
    }
    if (interrupt_.requested()) worker_.cancel();
  }
}

}  // namespace lab::app
