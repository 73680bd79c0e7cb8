#pragma once
// Runs one experiment on the calling thread and keeps what it reports.
#include <chrono>
#include <exception>
#include <iterator>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "compute/machine/machine.h"
#include "compute/run/experiment.h"
#include "compute/run/run_context.h"
#include "compute/tensor/tensor_store.h"
#include "compute/core/error.h"

namespace lab::test {

struct Probe {
  explicit Probe(int cpu_devices = 1) : Probe(MachineOptions{.cpu_devices = cpu_devices}) {}
  explicit Probe(const MachineOptions& options) : machine(options) {}

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

  // Runs it and requests a stop in the middle; the code of the error that it ends with, none when
  // it runs to its end.
  std::optional<Errc> run_and_stop(Experiment& experiment, std::chrono::milliseconds after) {
    const std::jthread stopper([&] {
      std::this_thread::sleep_for(after);
      stop.request_stop();
    });
    try {
      run(experiment);
      return {};
    } catch (const Error& error) {
      return error.code();
    }
  }

  // As `run`, with a stop requested as soon as `count` events of a kind were reported, however long
  // that takes here.
  template <typename T>
  void run_until(Experiment& experiment, std::size_t count) {
    std::vector<Event> read;
    std::exception_ptr thrown;
    {
      const std::jthread reader([&](const std::stop_token& over) {
        std::size_t found = 0;
        while (!over.stop_requested()) {
          for (Event& e : channel.wait_and_drain(0.02)) {
            if (std::holds_alternative<T>(e.payload)) ++found;
            read.push_back(std::move(e));
          }
          if (found >= count) stop.request_stop();
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
