#pragma once
// JSON for the results of a transfer sweep other than its samples.
#include <nlohmann/json.hpp>

#include "compute/core/events/event.h"

namespace lab::app {

// Adds "mover" and, between two GPUs, "peer".
void add_way(nlohmann::ordered_json& json, TransferMover mover, PeerMode peer);
nlohmann::ordered_json fit_json(const TransferFit& fit);
// "spans": the operations of each stream over time.
nlohmann::ordered_json timeline_json(const TransferTimeline& timeline);
nlohmann::ordered_json payoff_json(const TransferPayoff& payoff);

}  // namespace lab::app
