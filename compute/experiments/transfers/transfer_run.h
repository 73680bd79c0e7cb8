#pragma once
// One case: its arrays, the operation on them, and the proof that it did what it should.
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/experiments/transfers/transfer_case.h"
#include "compute/experiments/transfers/transfer_kernels.h"
#include "compute/machine/machine.h"
#include "compute/tensor/buffer.h"

namespace lab {

// Memory   sources belong to `from` and are first touched by its threads, the result to `to`;
//          filled with random whole numbers, so that every operation is exact in double
// Threads  the operation runs on the first series.threads threads of `to`, each on one contiguous
//          part; a single thread is the caller
// Cancel   work stops within a millisecond or so of `stop`; then results are undefined
class TransferRun {
 public:
  // Throws Error(OutOfMemory) with both numbers when the arrays do not fit. `bytes` is the size of
  // one array, a multiple of 8, not negative.
  TransferRun(Machine& machine, const TransferSeries& series, std::int64_t bytes,
              std::stop_token stop, const TransferKernels& kernels = transfer_kernels());

  // The operation, once. This is what is timed.
  void operate();

  // Makes the result wrong, so that check() shows whether operate() wrote all of it since.
  void spoil();

  // Compares every value with what it must be, without using the sources. "" or the first wrong
  // value in words.
  std::string check();

  Stores stores() const { return stores_; }

 private:
  struct alignas(64) Sum {
    std::uint64_t value = 0;
  };
  // body(thread, begin, end) on each thread's part, in pieces short enough to stop between.
  template <typename Body>
  void for_parts(DeviceContext& device, int threads, const Body& body);
  double* result() { return reinterpret_cast<double*>(result_.data()); }
  double* source(std::size_t i) { return reinterpret_cast<double*>(sources_[i].data()); }
  void fill_sources();
  double expected(std::int64_t i) const;

  DeviceContext& from_;
  DeviceContext& to_;
  const TransferSeries series_;
  const std::int64_t n_;  // elements
  const std::stop_token stop_;
  const TransferKernels& kernels_;
  Stores stores_ = Stores::Cached;
  std::vector<Buffer> sources_;
  Buffer result_;
  std::vector<Sum> sums_;           // of read, one a thread
  std::uint64_t expected_sum_ = 0;  // of read
  double value_ = 0;                // of write; another one each time
};

}  // namespace lab
