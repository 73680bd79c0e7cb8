#pragma once
// Runs one experiment on the calling thread and records its events.
#include <exception>
#include <functional>
#include <iterator>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "compute/machine/machine.h"
#include "compute/run/experiment.h"
#include "compute/run/run_context.h"
#include "compute/tensor/tensor_store.h"

namespace lab::test {

struct Probe {
  explicit Probe(int cpu_devices = 1) : Probe(MachineOptions{.cpu_devices = cpu_devices}) {}
  explicit Probe(const MachineOptions& options) : machine(options) {}

  // Rethrows what the experiment throws; `events` then holds the events emitted before.
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

  // Like `run`, but requests a stop as soon as `enough` accepts an event. There is no time limit.
  void run_until(Experiment& experiment, const std::function<bool(const Event&)>& enough) {
    std::vector<Event> read;
    std::exception_ptr thrown;
    {
      const std::jthread reader([&](const std::stop_token& over) {
        while (!over.stop_requested()) {
          for (Event& e : channel.wait_and_drain(0.02)) {
            if (enough(e)) stop.request_stop();
            read.push_back(std::move(e));
          }
        }
      });
      try {
        run(experiment);
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    events.insert(events.begin(), std::move_iterator(read.begin()), std::move_iterator(read.end()));
    if (thrown) std::rethrow_exception(thrown);
  }

  // Stops after `count` events of type T.
  template <typename T>
  void run_until(Experiment& experiment, std::size_t count) {
    std::size_t found = 0;
    run_until(experiment, [&](const Event& e) {
      if (std::holds_alternative<T>(e.payload)) ++found;
      return found >= count;
    });
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
