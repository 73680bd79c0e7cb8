#pragma once
// One series at one size, on CPU devices or with a GPU: verified, timed, and verified again.
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "compute/core/events/event.h"
#include "compute/experiments/transfers/stream_kernels.h"
#include "compute/experiments/transfers/transfer_plan.h"
#include "compute/machine/machine.h"
#include "compute/measure/cache_flusher.h"
#include "compute/run/run_context.h"

namespace lab {

// Length of a sample in a live run, which shows about four per second.
inline constexpr double kLiveSample_s = 0.25;

struct SampleSettings {
  double budget_s = 0.5;            // warm-up included
  bool live = false;                // samples take about kLiveSample_s instead
  CacheFlusher* flusher = nullptr;  // if set, flushes a CPU device's caches before each repetition
};

// The memory of a case, its operation, and the verification of the result. Once a stop is
// requested, operations and checks return early and their results are undefined.
class TransferCase {
 public:
  TransferCase() = default;
  virtual ~TransferCase() = default;
  TransferCase(const TransferCase&) = delete;
  TransferCase& operator=(const TransferCase&) = delete;

  // Performs the operation once.
  virtual void operate() = 0;
  // Invalidates the result, so that check() detects any part that operate() has not rewritten
  // since.
  virtual void poison() = 0;
  // Compares the whole result. Returns "" or a description of the error.
  virtual std::string check() = 0;
  // Returns the seconds per operation. Throws Error(Cancelled).
  virtual Timing time(const RunContext& ctx, const SampleSettings& settings) = 0;
  virtual Conditions conditions() const = 0;
};

// A transfer between CPU devices or within one.
// Memory   sources are allocated on `from` and first touched by its threads, the result on `to`;
//          filled with random integers, so that every operation is exact in double
// Threads  the operation runs on the first series.threads threads of `to`, each on one contiguous
//          part; a single thread is the caller, which is bound to `to` for the case's lifetime
// Limits   `bytes` per array, a multiple of 8, not negative
// Errors   OutOfMemory with both sizes if the arrays do not fit
std::unique_ptr<TransferCase> make_cpu_case(Machine& machine, const TransferSeries& series,
                                            std::int64_t bytes, std::stop_token stop,
                                            const StreamKernels& kernels = stream_kernels());

// Chooses the stores of an operation on arrays of `bytes`, for a last-level cache of `cache_bytes`.
Stores choose_stores(TransferOp op, std::int64_t bytes, std::int64_t cache_bytes);

// A transfer with a GPU at one end or both.
// Limits   `bytes` per array, as supports_size() allows
// Errors   OutOfMemory
std::unique_ptr<TransferCase> make_gpu_case(Machine& machine, const TransferSeries& series,
                                            std::int64_t bytes, std::stop_token stop);

// A case whose result was correct; only such cases are timed.
class ProvenCase {
 public:
  // Throws Error(OutOfMemory) if the case does not fit, Error(Internal) for a wrong result, which
  // is a bug and is never reported as a measurement, Error(Cancelled).
  ProvenCase(RunContext& ctx, const TransferSeries& series, std::int64_t bytes);
  // Times the case and verifies the result again. Throws Error(Cancelled).
  TransferSample sample(const SampleSettings& settings);

 private:
  RunContext& ctx_;
  const TransferSeries series_;
  const std::int64_t bytes_;
  const std::unique_ptr<TransferCase> case_;
};

// Overlaps copies with a kernel: four parts of at most `bytes` each are copied in, processed for
// about as long as a copy takes, and copied out, on three streams with an event before and after
// every operation; for comparison, the same work runs on one stream. After one warm-up run, each
// variant runs five times and the median run is reported. Emits the timeline, or a Skipped if the
// memory cannot be allocated. `bytes` > 0. Throws Error(Internal) for a wrong result,
// Error(Cancelled).
void emit_overlap(RunContext& ctx, Device gpu, std::int64_t bytes);

}  // namespace lab
