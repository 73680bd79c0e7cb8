#pragma once
// One series at one size, on CPU devices or with a GPU: proven right, timed, and verified again.
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

// A live run shows about four samples per second.
inline constexpr double kLiveSample_s = 0.25;

struct SampleSettings {
  double budget_s = 0.5;            // warm-up included
  bool live = false;                // about kLiveSample_s instead
  CacheFlusher* flusher = nullptr;  // set: empties a CPU device's caches before each repetition
};

// The memory of a case, the operation on it, and the proof that the operation did what it should.
// Once a stop is requested, operations and checks return early and their results are undefined.
class TransferCase {
 public:
  TransferCase() = default;
  virtual ~TransferCase() = default;
  TransferCase(const TransferCase&) = delete;
  TransferCase& operator=(const TransferCase&) = delete;

  // The operation, once.
  virtual void operate() = 0;
  // Makes the result wrong, so that check() shows whether operate() wrote all of it since.
  virtual void spoil() = 0;
  // Compares the whole result. "" or what is wrong, in words.
  virtual std::string check() = 0;
  // Seconds of one operation. Throws Error(Cancelled).
  virtual Timing time(const RunContext& ctx, const SampleSettings& settings) = 0;
  virtual Conditions conditions() const = 0;
};

// Between CPU devices or within one.
// Memory   sources belong to `from` and are first touched by its threads, the result to `to`;
//          filled with random whole numbers, so that every operation is exact in double
// Threads  the operation runs on the first series.threads threads of `to`, each on one contiguous
//          part; a single thread is the caller, which is bound to `to` while the case lives
// Limits   `bytes` of one array, a multiple of 8, not negative
// Errors   OutOfMemory with both numbers when the arrays do not fit
std::unique_ptr<TransferCase> make_cpu_case(Machine& machine, const TransferSeries& series,
                                            std::int64_t bytes, std::stop_token stop,
                                            const StreamKernels& kernels = stream_kernels());

// How an operation on arrays of `bytes` stores, beside a last-level cache of `cache_bytes`.
Stores choose_stores(TransferOp op, std::int64_t bytes, std::int64_t cache_bytes);

// With a GPU at one end or at both.
// Limits   `bytes` of one array, as takes_size() allows
// Errors   OutOfMemory
std::unique_ptr<TransferCase> make_gpu_case(Machine& machine, const TransferSeries& series,
                                            std::int64_t bytes, std::stop_token stop);

// A case whose result was right: no other is timed.
class ProvenCase {
 public:
  // Throws Error(OutOfMemory) where the case does not fit, Error(Internal) for a wrong result,
  // which is a bug and never a figure, Error(Cancelled).
  ProvenCase(RunContext& ctx, const TransferSeries& series, std::int64_t bytes);
  // Times the case and verifies the result again. Throws Error(Cancelled).
  TransferSample sample(const SampleSettings& settings);

 private:
  RunContext& ctx_;
  const TransferSeries series_;
  const std::int64_t bytes_;
  const std::unique_ptr<TransferCase> case_;
};

// Overlaps copies with a kernel: four parts of at most `bytes` each go in, are worked on for about
// as long as a copy takes, and come out, on three streams with an event before and after every
// piece of work; then the same on one stream. After one run to warm up, each is done five times
// and the median run is reported. Emits the timeline, or a skip where the memory is not to be had.
// `bytes` > 0. Throws Error(Internal) for a wrong result, Error(Cancelled).
void emit_overlap(RunContext& ctx, Device gpu, std::int64_t bytes);

}  // namespace lab
