#include "app/headless/lesson_json.h"

namespace lab::app {
namespace {

using Json = nlohmann::ordered_json;

struct NewsToJson {
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
    add_position(json, e.x, e.x_unit);
    if (!e.text.empty()) {
      json["text"] = e.text;
      return json;
    }
    json["value"] = e.value;
    json["unit"] = e.unit;
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
  return std::visit(NewsToJson{event.lesson}, event.news);
}

Json lesson_json(const LessonInfo& info) {
  Json json{{"type", "lesson"},
            {"name", info.name},
            {"title", info.title},
            {"track", to_string(info.track)},
            {"devices", info.devices},
            {"question", info.question.text},
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
  json["answer"] = done.answer ? Json(done.answer->values) : Json(nullptr);
}

}  // namespace lab::app
