#pragma once
// What a sweep of transfers found beside its samples, as JSON.
#include <nlohmann/json.hpp>

#include "compute/core/events/event.h"

namespace lab::app {

// "mover", and "peer" between two GPUs.
void add_way(nlohmann::ordered_json& json, TransferMover mover, PeerWay peer);
nlohmann::ordered_json fit_json(const TransferFit& fit);
// "spans": what ran when on each stream.
nlohmann::ordered_json timeline_json(const TransferTimeline& timeline);
nlohmann::ordered_json payoff_json(const TransferPayoff& payoff);

}  // namespace lab::app
