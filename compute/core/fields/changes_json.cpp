#include "compute/core/fields/changes_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
std::vector<Value> column(const Json& json, const char* name) {
  try {
    return json.at(name).get<std::vector<Value>>();
  } catch (const Json::exception&) {
    throw Error(Errc::Corrupt, trf("the list {} of changes is missing or has another type", name));
  }
}

}  // namespace

Json changes_to_json(const std::vector<TrainingChanged>& changes) {
  Json json;
  for (const char* name : {"step", "t_s", "setting", "before", "after", "total_steps"}) {
    json[name] = Json::array();
  }
  for (const TrainingChanged& c : changes) {
    json["step"].push_back(c.step);
    json["t_s"].push_back(c.t_s);
    json["setting"].push_back(c.setting);
    json["before"].push_back(c.before);
    json["after"].push_back(c.after);
    json["total_steps"].push_back(c.total_steps);
  }
  return json;
}

std::vector<TrainingChanged> changes_from_json(const Json& json) {
  const auto step = column<std::int64_t>(json, "step");
  const auto t_s = column<double>(json, "t_s");
  const auto setting = column<std::string>(json, "setting");
  const auto before = column<std::string>(json, "before");
  const auto after = column<std::string>(json, "after");
  const auto total_steps = column<std::int64_t>(json, "total_steps");
  const std::size_t n = step.size();
  for (const std::size_t size :
       {t_s.size(), setting.size(), before.size(), after.size(), total_steps.size()}) {
    if (size != n) throw Error(Errc::Corrupt, tr("the lists of changes differ in length"));
  }
  std::vector<TrainingChanged> changes;
  for (std::size_t i = 0; i < n; ++i) {
    if (step[i] < 0 || total_steps[i] < 0) {
      throw Error(Errc::Corrupt, tr("a change has a negative step"));
    }
    changes.push_back({.step = step[i],
                       .t_s = t_s[i],
                       .setting = setting[i],
                       .before = before[i],
                       .after = after[i],
                       .total_steps = total_steps[i]});
  }
  return changes;
}

}  // namespace lab
