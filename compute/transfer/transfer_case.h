#pragma once
// What one sweep of transfers consists of.
#include <cstdint>
#include <string>
#include <vector>

#include "compute/device/machine.h"
#include "compute/types/command.h"
#include "compute/types/event.h"

namespace lab {

// One line of the chart: everything but the size is fixed.
struct TransferSeries {
  Device from, to;
  MemoryKind memory = MemoryKind::Pageable;
  TransferOp op = TransferOp::Copy;
  int threads = 1;  // of `to`, which does the work
};

struct TransferPlan {
  std::vector<TransferSeries> series;     // one-thread series before its all-threads twin
  std::vector<std::int64_t> sizes_bytes;  // of one array, ascending, each once
  std::vector<Skipped> skipped;           // what was asked for and cannot be done
};

// Fills in the defaults and sorts out what makes no sense. Throws Error(Usage) for sizes that are
// not positive multiples of 8 or when neither one thread nor all are asked for, Error(NotFound) for
// devices that are not there.
TransferPlan plan_transfers(const StartTransfers& request, Machine& machine);

// Arrays an operation touches: copy two, triad three. It moves each of them once.
int arrays_of(TransferOp op);

// "copy cpu:0 -> cpu:1, pageable, 2 threads".
std::string describe(const TransferSeries& series);

}  // namespace lab
