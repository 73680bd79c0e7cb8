#pragma once
// The lab without a window: the same worker and the same experiments, events handed to a printer.
#include "app/headless/interrupt.h"
#include "app/headless/printer.h"
#include "compute/machine/machine.h"
#include "compute/run/channel.h"
#include "compute/run/worker.h"
#include "compute/tensor/tensor_store.h"

namespace lab::app {

class HeadlessLab {
 public:
  // Throws Error for a machine that cannot be set up as asked. `ranks`: the processes that share
  // the jobs.
  HeadlessLab(const MachineOptions& options, Interrupt& interrupt,
              RankGroup& ranks = single_rank());
  HeadlessLab(int cpu_devices, Interrupt& interrupt)
      : HeadlessLab(MachineOptions{.cpu_devices = cpu_devices}, interrupt) {}

  // Runs one job to its end, showing each event; throws the job's Error when it failed and
  // Error(Cancelled) when an interrupt cancelled it. What the printer throws goes on, and the job
  // ends with the lab.
  void run(const JobCommand& command, Printer& printer);

  Machine& machine() { return machine_; }

 private:
  Interrupt& interrupt_;
  const bool launched_;  // with other processes
  Machine machine_;
  TensorStore tensors_;
  Channel channel_;
  Worker worker_;
};

}  // namespace lab::app
