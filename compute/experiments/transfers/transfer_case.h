#pragma once
// What one sweep of transfers consists of.
#include <cstdint>
#include <string>
#include <vector>

#include "compute/core/events/command.h"
#include "compute/core/events/event.h"
#include "compute/machine/machine.h"

namespace lab {

// One line of the chart: everything but the size is fixed.
struct TransferSeries {
  Device from, to;
  MemoryKind memory = MemoryKind::Pageable;
  TransferOp op = TransferOp::Copy;
  int threads = 1;  // of `to`, which does the work
  TransferMover mover = TransferMover::Threads;
  PeerWay peer = PeerWay::None;
};

struct TransferPlan {
  std::vector<TransferSeries> series;     // one-thread series before its all-threads twin
  std::vector<std::int64_t> sizes_bytes;  // of one array, ascending, each once
  std::vector<Device> overlaps;           // GPUs whose copies are overlapped with a kernel
  std::vector<Skipped> skipped;           // what was asked for and cannot be done
};

// Fills in the defaults and sorts out what makes no sense. Throws Error(Usage) for sizes that are
// not positive multiples of 8 or when neither one thread nor all are asked for, Error(NotFound) for
// devices that are not there.
TransferPlan plan_transfers(const StartTransfers& request, Machine& machine);

// Arrays an operation of a CPU device touches: copy two, triad three. It moves each of them once.
int arrays_of(TransferOp op);

// Bytes that one operation on arrays of `bytes` moves, as TransferOp counts them; of a chase those
// of one read.
std::int64_t moved_bytes(const TransferSeries& series, std::int64_t bytes);

// Whether the operation can be done on arrays of so many bytes.
bool takes_size(const TransferSeries& series, std::int64_t bytes);

// "cpu:0 -> cuda:0".
std::string pair_name(Device from, Device to);

// "copy cpu:0 -> cpu:1, pageable, 2 threads", "copy cuda:0 -> cuda:1, kernel, peer write".
std::string describe(const TransferSeries& series);
// The same with ", 64.0 KiB".
std::string describe(const TransferSeries& series, std::int64_t bytes);

// "read, triad".
std::string names_of(const std::vector<TransferOp>& ops);

}  // namespace lab
