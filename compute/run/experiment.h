#pragma once
// One job of the worker: validates, can be cancelled, emits one sample or one skip for each case.

namespace lab {

class RunContext;

class Experiment {
 public:
  virtual ~Experiment() = default;

  // Runs to the end on the worker's thread. Throws Error with one sentence for people; throws
  // Error(Cancelled) through RunContext::throw_if_cancelled.
  virtual void run(RunContext& ctx) = 0;
};

}  // namespace lab
