#include "app/headless/transfer_json.h"

namespace lab::app {

using Json = nlohmann::ordered_json;

void add_way(Json& json, TransferMover mover, PeerMode peer) {
  json["mover"] = to_string(mover);
  if (peer != PeerMode::None) json["peer"] = to_string(peer);
}

Json fit_json(const TransferFit& e) {
  Json json{{"from", to_string(e.from)},
            {"to", to_string(e.to)},
            {"memory", to_string(e.memory)},
            {"op", to_string(e.op)},
            {"threads", e.threads},
            {"latency_s", e.latency_s},
            {"gb_per_s", e.gb_per_s},
            {"r2", e.r2},
            {"half_bandwidth_bytes", e.half_bandwidth_bytes}};
  add_way(json, e.mover, e.peer);
  json["break_even_bytes"] = e.break_even_bytes ? Json(*e.break_even_bytes) : Json(nullptr);
  return json;
}

Json timeline_json(const TransferTimeline& e) {
  Json json{{"device", to_string(e.device)},  {"bytes", e.bytes},       {"runs", e.runs},
            {"overlapped_s", e.overlapped_s}, {"serial_s", e.serial_s}, {"spans", Json::array()}};
  for (const TransferSpan& span : e.spans) {
    json["spans"].push_back({{"stream", span.stream},
                             {"what", span.what},
                             {"begin_s", span.begin_s},
                             {"end_s", span.end_s}});
  }
  return json;
}

Json payoff_json(const TransferPayoff& e) {
  Json json{{"host", to_string(e.host)},
            {"card", to_string(e.gpu)},
            {"memory", to_string(e.memory)},
            {"passes", e.passes}};
  json["from_bytes"] = e.from_bytes ? Json(*e.from_bytes) : Json(nullptr);
  return json;
}

}  // namespace lab::app
