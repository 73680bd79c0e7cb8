#pragma once
// What can be measured with a GPU at one end, or at both.
#include "compute/experiments/transfers/transfer_case.h"
#include "compute/machine/machine.h"

namespace lab {

// Adds the series of one pair, and a reason for each case asked for that cannot be done.
void plan_gpu_pair(TransferPlan& plan, const StartTransfers& request, DeviceContext& from,
                   DeviceContext& to);

// One reason for what the request leaves open to GPUs that the machine does not have: any GPU, or
// a second one.
void skip_missing_gpus(TransferPlan& plan, const StartTransfers& request, Machine& machine);

std::string describe_gpu_series(const TransferSeries& series);

}  // namespace lab
