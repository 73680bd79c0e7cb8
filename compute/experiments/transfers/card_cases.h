#pragma once
// What can be measured with a card at one end, or at both.
#include "compute/experiments/transfers/transfer_case.h"
#include "compute/machine/machine.h"

namespace lab {

// Adds the series of one pair, and a reason for each case asked for that cannot be done.
void plan_card_pair(TransferPlan& plan, const StartTransfers& request, DeviceContext& from,
                    DeviceContext& to);

// One reason for what the request leaves open to cards that the machine does not have: any card, or
// a second one.
void skip_missing_cards(TransferPlan& plan, const StartTransfers& request, Machine& machine);

std::string describe_card_series(const TransferSeries& series);

}  // namespace lab
