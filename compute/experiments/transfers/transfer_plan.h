#pragma once
// Plan of a transfer sweep between CPU devices and GPUs, with a reason for each case that cannot be
// measured.
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/machine/machine.h"

namespace lab {

// One curve of the chart: everything but the size is fixed.
struct TransferSeries {
  Device from, to;
  MemoryKind memory = MemoryKind::Pageable;
  TransferOp op = TransferOp::Copy;
  int threads = 1;  // of `to`, which does the work
  TransferMover mover = TransferMover::Threads;
  PeerMode peer = PeerMode::None;
};

struct TransferPlan {
  std::vector<TransferSeries> series;     // copies first; one thread directly before all threads
  std::vector<std::int64_t> sizes_bytes;  // per array, ascending, unique
  std::vector<Device> overlaps;           // GPUs whose copies are overlapped with a kernel
  std::vector<Skipped> skipped;           // requested cases that are impossible
};

// Fills in the defaults and lists the series of each pair of devices, with a reason for each
// requested case that is impossible. Throws Error(Usage) for sizes that are not positive multiples
// of 8 or if neither one thread nor all threads are requested, Error(NotFound) for devices that do
// not exist.
TransferPlan plan_transfers(const StartTransfers& request, Machine& machine);

// Bytes that one operation on arrays of `bytes` moves, as defined by TransferOp; for a pointer
// chase, those of one read.
std::int64_t moved_bytes(const TransferSeries& series, std::int64_t bytes);

// True if the operation supports arrays of `bytes`.
bool supports_size(const TransferSeries& series, std::int64_t bytes);

// The GPU that does the work of a series; of two GPUs, the one that writes or reads.
Device working_gpu(const TransferSeries& series);

// For example "copy cpu:0 -> cpu:1, 2 threads", "copy cuda:0 -> cuda:1, kernel, peer
// write".
std::string describe(const TransferSeries& series);
// The same followed by the size, for example ", 64.0 KiB".
std::string describe(const TransferSeries& series, std::int64_t bytes);

// Returns a TransferSample or TransferFit with the fields of the series set.
template <typename Reported>
Reported make_report(const TransferSeries& series) {
  Reported reported;
  reported.from = series.from;
  reported.to = series.to;
  reported.memory = series.memory;
  reported.op = series.op;
  reported.mover = series.mover;
  reported.peer = series.peer;
  reported.threads = series.threads;
  return reported;
}

}  // namespace lab
