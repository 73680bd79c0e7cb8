#pragma once
// The lab without a window: the same worker and experiments, with events passed to a printer.
#include "app/headless/interrupt.h"
#include "app/headless/printer.h"
#include "compute/machine/machine.h"
#include "compute/run/channel.h"
#include "compute/run/worker.h"
#include "compute/tensor/tensor_store.h"

namespace lab::app {

class HeadlessLab {
 public:
  // Throws Error if the machine cannot be set up with `options`. `ranks`: the processes that share
  // the jobs.
  HeadlessLab(const MachineOptions& options, Interrupt& interrupt,
              RankGroup& ranks = single_rank());
  HeadlessLab(int cpu_devices, Interrupt& interrupt)
      : HeadlessLab(MachineOptions{.cpu_devices = cpu_devices}, interrupt) {}

  // Runs one job to its end, showing each event. Throws the job's Error if it failed and
  // Error(Cancelled) if an interrupt cancelled it. Exceptions of the printer propagate; the job
  // then ends with the lab.
  void run(const JobCommand& command, Printer& printer);

  Machine& machine() { return machine_; }

 private:
  Interrupt& interrupt_;
  const bool launched_;  // together with other processes
  Machine machine_;
  TensorStore tensors_;
  Channel channel_;
  Worker worker_;
};

}  // namespace lab::app
