#pragma once
// Interface of a worker job, which validates its request, can be cancelled, and emits one sample or
// one skip per case.

namespace lab {

class RunContext;

class Experiment {
 public:
  virtual ~Experiment() = default;

  // Runs to completion on the worker's thread. Throws Error with a one-sentence message for the
  // user, or Error(Cancelled) through RunContext::throw_if_cancelled().
  virtual void run(RunContext& ctx) = 0;
};

}  // namespace lab
