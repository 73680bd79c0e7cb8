#pragma once
// Runs one experiment on the calling thread and keeps what it reports.
#include <stop_token>
#include <vector>

#include "compute/device/machine.h"
#include "compute/run/experiment.h"
#include "compute/run/run_context.h"
#include "compute/tensor/tensor_store.h"

namespace lab::test {

struct Probe {
  explicit Probe(int cpu_devices = 1) : machine({.cpu_devices = cpu_devices}) {}

  // Throws what the experiment throws; `events` then holds what came before.
  void run(Experiment& experiment) {
    RunContext ctx(1, machine, tensors, channel, control, stop.get_token());
    try {
      experiment.run(ctx);
    } catch (...) {
      events = channel.drain();
      throw;
    }
    events = channel.drain();
  }

  template <typename T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const Event& e : events) {
      if (const T* p = std::get_if<T>(&e.payload)) found.push_back(*p);
    }
    return found;
  }

  Machine machine;
  TensorStore tensors;
  Channel channel;
  RunControl control;
  std::stop_source stop;
  std::vector<Event> events;
};

}  // namespace lab::test
