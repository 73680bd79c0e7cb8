#include "app/automation/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "compute/core/error.h"

namespace lab::app {
namespace {

using Json = nlohmann::json;

struct Verb {
  const char* name;
  Act act;
};
constexpr std::array<Verb, 13> kVerbs = {{{"click", Act::Click},
                                          {"right_click", Act::RightClick},
                                          {"double_click", Act::DoubleClick},
                                          {"hover", Act::Hover},
                                          {"type", Act::Type},
                                          {"key", Act::Key},
                                          {"scroll", Act::Scroll},
                                          {"set", Act::Set},
                                          {"wait", Act::Wait},
                                          {"wait_for", Act::WaitFor},
                                          {"expect", Act::Expect},
                                          {"screenshot", Act::Screenshot},
                                          {"describe", Act::Describe}}};
constexpr double kIdleTimeoutS = 120;

[[noreturn]] void refuse(std::string_view name, int line, std::string_view why) {
  throw Error(Errc::InvalidArgument, fmt::format("script {} line {}: {}", name, line, why));
}

const Verb* verb_of(const Json& json) {
  const auto found = std::find_if(kVerbs.begin(), kVerbs.end(),
                                  [&](const Verb& v) { return json.contains(v.name); });
  return found == kVerbs.end() ? nullptr : &*found;
}

// Fills in what the verb's own value says; empty: fine, else what is wrong.
std::optional<std::string> take_argument(const Json& argument, ScriptStep& step) {
  if (step.act == Act::Wait && argument == "idle") {
    step.act = Act::WaitIdle;
    step.timeout_s = kIdleTimeoutS;
    return {};
  }
  if (step.act == Act::Wait || step.act == Act::Scroll) {
    if (!argument.is_number()) return "its value must be a number";
    step.amount = argument.get<double>();
    return {};
  }
  if (!argument.is_string()) return "its value must be a text";
  step.target = argument.get<std::string>();
  return {};
}

ScriptStep parse_step(std::string_view text, std::string_view name, int line) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) refuse(name, line, "not a JSON object");
  const Verb* verb = verb_of(json);
  if (verb == nullptr) {
    std::vector<std::string_view> names;
    names.reserve(std::size(kVerbs));
    for (const Verb& v : kVerbs) names.emplace_back(v.name);
    refuse(name, line, fmt::format("no known step; one of {}", fmt::join(names, ", ")));
  }
  ScriptStep step;
  step.line = line;
  step.act = verb->act;
  if (const auto wrong = take_argument(json[verb->name], step)) {
    refuse(name, line, fmt::format("{}: {}", verb->name, *wrong));
  }
  if (json.contains("at") && json["at"].is_string()) step.target = json["at"].get<std::string>();
  if (json.contains("value") && json["value"].is_string()) {
    step.value = json["value"].get<std::string>();
    step.has_value = true;
  }
  if (json.contains("timeout") && json["timeout"].is_number()) {
    step.timeout_s = json["timeout"].get<double>();
  }
  if (step.act == Act::Set && !step.has_value) refuse(name, line, "set needs a \"value\" text");
  return step;
}

}  // namespace

std::vector<ScriptStep> parse_script(std::string_view text, std::string_view name) {
  std::vector<ScriptStep> steps;
  int line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = row.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || row[first] == '#') continue;
    steps.push_back(parse_step(row, name, line));
  }
  return steps;
}

}  // namespace lab::app
