#include "app/headless/transfer_json.h"

namespace lab::app {

using Json = nlohmann::ordered_json;

void add_way(Json& json, TransferMover mover, PeerMode peer) {
  json["mover"] = to_string(mover);
  if (peer != PeerMode::None) json["peer"] = to_string(peer);
}

namespace {

// A line that misses the samples is withheld; its residual says why.
Json level_json(const TransferLevel& level) {
  Json json{{"name", level.name},
            {"to_bytes", level.to_bytes > 0 ? Json(level.to_bytes) : Json(nullptr)},
            {"sizes", level.sizes}};
  if (level.holds()) json["latency_s"] = level.latency_s;
  if (level.holds()) json["gb_per_s"] = level.gb_per_s;
  if (level.gb_per_s > 0) json["residual"] = level.residual;
  return json;
}

}  // namespace

Json fit_json(const TransferFit& e) {
  Json json{{"from", to_string(e.from)},
            {"to", to_string(e.to)},
            {"memory", to_string(e.memory)},
            {"op", to_string(e.op)},
            {"threads", e.threads}};
  const bool first = !e.levels.empty() && e.levels.front().holds();
  const bool last = !e.levels.empty() && e.levels.back().holds();
  json["latency_s"] = first ? Json(e.levels.front().latency_s) : Json(nullptr);
  json["gb_per_s"] = last ? Json(e.levels.back().gb_per_s) : Json(nullptr);
  json["levels"] = Json::array();
  for (const TransferLevel& level : e.levels) {
    if (level.sizes > 0) json["levels"].push_back(level_json(level));
  }
  add_way(json, e.mover, e.peer);
  const auto& faster = e.faster_than_one;
  json["break_even_bytes"] = faster ? Json(faster->from_bytes) : Json(nullptr);
  if (faster && faster->to_bytes) json["faster_to_bytes"] = *faster->to_bytes;
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
