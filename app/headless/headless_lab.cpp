#include "app/headless/headless_lab.h"

#include "compute/run/registry.h"

namespace lab::app {

HeadlessLab::HeadlessLab(int cpu_devices, Interrupt& interrupt)
    : interrupt_(interrupt),
      machine_({.cpu_devices = cpu_devices}),
      worker_(machine_, tensors_, channel_, make_experiment, job_title) {}

JobResult HeadlessLab::run(const JobCommand& command, Printer& printer) {
  constexpr double kInterruptPollS = 0.05;
  JobResult result;
  const JobId job = worker_.submit(command);
  while (true) {
    for (const Event& event : channel_.wait_and_drain(kInterruptPollS)) {
      if (event.job != job) continue;
      printer.show(event.payload);
      if (const auto* training = std::get_if<TrainingDone>(&event.payload)) {
        result.training = *training;
      } else if (const auto* finished = std::get_if<JobFinished>(&event.payload)) {
        result.outcome = finished->outcome;
        result.seconds = finished->seconds;
        result.error = finished->error;
        return result;
      }
    }
    if (interrupt_.requested()) worker_.cancel_all();
  }
}

}  // namespace lab::app
