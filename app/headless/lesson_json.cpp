#include "app/headless/lesson_json.h"

namespace lab::app {
namespace {

using Json = nlohmann::ordered_json;

struct ResultToJson {
  using Result = std::optional<Json>;
  const std::string& lesson;

  Result operator()(const LessonStepBegun&) const { return {}; }
  Result operator()(const LessonDone&) const { return {}; }
  Result operator()(const LessonGuess& e) const {
    return Json{{"type", "guess"},
                {"lesson", lesson},
                {"question", e.question},
                {"text", e.text},
                {"values", e.answer.values}};
  }
  Result operator()(const LessonPrediction& e) const {
    Json json{{"type", "prediction"}, {"lesson", lesson}, {"series", e.series}};
    add_position(json, e.x, e.x_unit);
    json["value"] = e.value;
    json["unit"] = e.unit;
    json["formula"] = e.formula;
    json["constants"] = Json::array();
    for (const NamedQuantity& c : e.constants) {
      json["constants"].push_back({{"name", c.name}, {"value", c.value}, {"unit", c.unit}});
    }
    return json;
  }
  Result operator()(const LessonSample& e) const {
    Json json{{"type", "sample"}, {"lesson", lesson}, {"series", e.series}};
    if (!e.group.empty()) json["group"] = e.group;
    add_position(json, e.x, e.x_unit);
    if (!e.text.empty()) {
      json["text"] = e.text;
      if (e.draws.empty()) return json;
    }
    json["value"] = e.value;
    json["unit"] = e.unit;
    if (!e.draws.empty()) json["draws"] = e.draws;
    if (e.time.n == 0) return json;
    json["p10"] = e.time.p10_s;
    json["p90"] = e.time.p90_s;
    json["n"] = e.time.n;
    json["unstable"] = e.time.unstable;
    return json;
  }
  Result operator()(const LessonSpan& e) const {
    return Json{{"type", "span"},       {"lesson", lesson}, {"lane", e.lane},  {"what", e.what},
                {"begin_s", e.begin_s}, {"end_s", e.end_s}, {"stall", e.stall}};
  }
  Result operator()(const LessonGap& e) const {
    Json json{{"type", "gap"},  {"lesson", lesson},         {"what", e.what},
              {"unit", e.unit}, {"predicted", e.predicted}, {"measured", e.measured}};
    json["parts"] = Json::array();
    for (const GapPart& part : e.parts) {
      json["parts"].push_back({{"cause", part.cause}, {"value", part.value}});
    }
    if (e.modelled) json["modelled"] = true;
    if (!e.note.empty()) json["note"] = e.note;
    return json;
  }

  Result operator()(const LessonFrame& e) const {
    Json json{{"type", "frame"}, {"lesson", lesson}, {"sequence", e.sequence},
              {"step", e.step},  {"title", e.title}, {"rows", Json::array()}};
    for (const LessonRow& row : e.rows) {
      Json& one = json["rows"].emplace_back(Json{{"name", row.name}});
      if (!row.group.empty()) one["group"] = row.group;
      if (row.text.empty()) {
        one["values"] = row.values;
      } else {
        one["text"] = row.text;
      }
    }
    for (const LessonMove& move : e.moves) {
      json["moves"].push_back({{"from", move.from},
                               {"to", move.to},
                               {"first", move.first},
                               {"count", move.count},
                               {"adds", move.adds}});
    }
    return json;
  }
  Result operator()(const LessonMap& e) const {
    Json json{{"type", "map"}, {"lesson", lesson}, {"devices", Json::array()}};
    for (const DeviceInfo& device : e.devices) {
      Json& one = json["devices"].emplace_back(Json{{"device", to_string(device.device)},
                                                    {"name", device.name},
                                                    {"cores", device.cores},
                                                    {"memory_bytes", device.memory_total_bytes}});
      one["caches"] = Json::array();
      for (const CacheInfo& cache : device.caches) {
        one["caches"].push_back(
            {{"level", cache.level}, {"size_bytes", cache.size_bytes}, {"cores", cache.cores}});
      }
    }
    json["links"] = Json::array();
    for (const LessonMap::Link& link : e.links) {
      json["links"].push_back(
          {{"from", to_string(link.from)}, {"to", to_string(link.to)}, {"what", link.what}});
    }
    return json;
  }
  Result operator()(const LessonClass& e) const {
    const auto values = [](const std::optional<LessonAnswer>& answer) {
      return answer ? Json(answer->values) : Json(nullptr);
    };
    Json json{{"type", "class"}, {"lesson", lesson}, {"people", Json::array()}};
    for (const ClassEntry& one : e.people) {
      json["people"].push_back(
          {{"file", one.file}, {"guess", values(one.guess)}, {"answer", values(one.answer)}});
    }
    json["bins"] = Json::array();
    for (const ClassBin& bin : e.bins) {
      json["bins"].push_back({{"label", bin.label},
                              {"low", bin.low},
                              {"high", bin.high},
                              {"guesses", bin.guesses},
                              {"answers", bin.answers}});
    }
    return json;
  }

  static void add_position(Json& json, const std::optional<double>& x, const std::string& unit) {
    if (!x) return;
    json["x"] = *x;
    json["x_unit"] = unit;
  }
};

}  // namespace

std::optional<Json> lesson_json(const LessonEvent& event) {
  return std::visit(ResultToJson{event.lesson}, event.result);
}

Json lesson_json(const LessonInfo& info) {
  Json json{{"type", "lesson"},
            {"name", info.name},
            {"title", info.title},
            {"track", to_string(info.track)},
            {"devices", info.devices},
            {"question", question_text(info)},
            {"choices", info.question.choices}};
  json["vary"] = info.vary ? Json{{"label", info.vary->label},
                                  {"low", info.vary->low},
                                  {"high", info.vary->high},
                                  {"value", info.vary->value}}
                           : Json(nullptr);
  return json;
}

void add_lesson_result(Json& json, const std::string& lesson, const LessonDone& done) {
  json["lesson"] = lesson;
  json["sentence"] = done.sentence;
  json["checks"] = Json::array();
  for (const LessonCheck& check : done.checks) {
    json["checks"].push_back(
        {{"what", check.what}, {"passed", check.passed}, {"detail", check.detail}});
  }
  if (!done.explanation.empty()) json["explanation"] = done.explanation;
  if (!done.warnings.empty()) json["warnings"] = done.warnings;
  for (const NamedQuantity& mark : done.marks) {
    json["marks"].push_back({{"name", mark.name}, {"value", mark.value}, {"unit", mark.unit}});
  }
  json["answer"] = done.judges() ? Json(done.answer->values) : Json(nullptr);
  json["vary"] = done.vary ? Json(*done.vary) : Json(nullptr);
}

}  // namespace lab::app
