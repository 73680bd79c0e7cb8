#pragma once
// One case with a GPU at one size: its memory, the operation, and the proof that it did what it
// should.
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "compute/core/events/stats.h"
#include "compute/experiments/transfers/transfer_case.h"
#include "compute/machine/machine.h"
#include "compute/run/run_context.h"

namespace lab {

class GpuCase {
 public:
  GpuCase() = default;
  virtual ~GpuCase() = default;
  GpuCase(const GpuCase&) = delete;
  GpuCase& operator=(const GpuCase&) = delete;

  // Seconds of one operation, from `times` of them in a row. Once a stop is requested it returns
  // early and the figure means nothing.
  virtual double operate(int times) = 0;
  // Makes the result wrong, so that check() shows whether operate() wrote all of it since.
  virtual void spoil() = 0;
  // "" or what is wrong, in words.
  virtual std::string check() = 0;
  // Whether the GPU runs the operations by itself once they are queued, behind a gate; else the
  // host takes part in each of them.
  virtual bool gated() const { return true; }
};

// Throws Error(OutOfMemory) where the memory is not to be had. `bytes` of one array, as
// takes_size() allows.
std::unique_ptr<GpuCase> make_gpu_case(Machine& machine, const TransferSeries& series,
                                       std::int64_t bytes, std::stop_token stop);

// As nvbandwidth: four operations to warm up, then the median of samples of 16 operations each, or
// of fewer where those would take more than 0.4 s behind a gate or 0.05 s elsewhere, so that no
// person who cancels is kept waiting. Samples go on until the median's spread is under 2 % (see
// measure.h) or `budget_s` is over, at least three of them. Throws Error(Cancelled).
Timing time_gpu_case(GpuCase& timed, double budget_s, const RunContext& ctx);

}  // namespace lab
