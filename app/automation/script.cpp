#include "app/automation/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/cli/suggest.h"
#include "compute/core/error.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"

namespace lab::app {
// --- reading --------------------------------------------------------------------------------

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
  throw Error(Errc::InvalidArgument, trf("script {} line {}: {}", name, line, why));
}

const Verb* verb_of(const Json& json) {
  const auto found = std::find_if(kVerbs.begin(), kVerbs.end(),
                                  [&](const Verb& v) { return json.contains(v.name); });
  return found == kVerbs.end() ? nullptr : &*found;
}

// Parses the argument of the step's verb. Returns what is wrong with it; empty if nothing.
std::optional<std::string> take_argument(const Json& argument, ScriptStep& step) {
  if (step.act == Act::Wait && argument == "idle") {
    step.act = Act::WaitIdle;
    step.timeout_s = kIdleTimeoutS;
    return {};
  }
  if (step.act == Act::Wait || step.act == Act::Scroll) {
    if (!argument.is_number()) return tr("its value must be a number");
    step.amount = argument.get<double>();
    return {};
  }
  if (!argument.is_string()) return tr("its value must be a string");
  step.target = argument.get<std::string>();
  return {};
}

ScriptStep parse_step(std::string_view text, std::string_view name, int line) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) refuse(name, line, tr("not a JSON object"));
  const Verb* verb = verb_of(json);
  if (verb == nullptr) {
    std::vector<std::string_view> names;
    names.reserve(std::size(kVerbs));
    for (const Verb& v : kVerbs) names.emplace_back(v.name);
    refuse(name, line, trf("unknown step; use one of {}", fmt::join(names, ", ")));
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
  if (step.act == Act::Set && !step.has_value)
    refuse(name, line, tr("set needs a \"value\" string"));
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

// --- player ---------------------------------------------------------------------------------

namespace {

constexpr int kSettleFrames = 3;
constexpr int kLeft = 0;
constexpr int kRight = 1;

ImVec2 middle(const ui::WidgetRect& w) {
  return {(w.min.x + w.max.x) / 2, (w.min.y + w.max.y) / 2};
}

std::optional<std::string> nearest_path(const ui::WidgetMap& widgets, const std::string& path) {
  std::vector<std::string> paths;
  for (const ui::WidgetRect& w : widgets.all()) paths.push_back(w.path);
  return nearest(path, paths);
}

}  // namespace

ScriptPlayer::ScriptPlayer(std::vector<ScriptStep> steps, std::string name)
    : steps_(std::move(steps)), name_(std::move(name)) {
  input_.settle(kSettleFrames);
}

void ScriptPlayer::fail(const ScriptStep& step, const std::string& why) const {
  constexpr std::size_t kMaxBytes = 1000;
  throw Error(Errc::NotFound,
              trf("script {} line {}: {}", name_, step.line, printable(why, kMaxBytes)));
}

const ui::WidgetRect* ScriptPlayer::look_for(const std::string& path, const ScriptStep& step,
                                             const World& world) {
  if (const ui::WidgetRect* found = world.widgets.find(path)) return found;
  if (world.now_s - *step_start_s_ < step.timeout_s) return nullptr;
  const std::optional<std::string> near = nearest_path(world.widgets, path);
  fail(step, near ? trf("no widget '{}' was visible within {} s; the nearest is '{}'", path,
                        step.timeout_s, *near)
                  : trf("no widget '{}' was visible within {} s; --describe-ui lists the widgets",
                        path, step.timeout_s));
}

ScriptPlayer::Progress ScriptPlayer::play_set(const ScriptStep& step, const World& world) {
  const ui::WidgetRect* w = look_for(step.target, step, world);
  if (w == nullptr) return Progress::Waiting;
  if (w->kind == "combo" || w->kind == "segmented") {
    if (w->value == step.value && phase_ == 0) return Progress::Done;
    if (w->kind == "combo" && phase_ == 0) {
      input_.click(middle(*w), kLeft, 1);
      phase_ = 1;
      return Progress::Waiting;
    }
    const auto* option = look_for(step.target + "/" + step.value, step, world);
    if (option == nullptr) return Progress::Waiting;
    input_.click(middle(*option), kLeft, 1);
    return Progress::Done;
  }
  if (w->kind == "checkbox") {
    if (w->value != step.value) input_.click(middle(*w), kLeft, 1);
    return Progress::Done;
  }
  input_.click({w->min.x + (w->max.x - w->min.x) / 4, middle(*w).y}, kLeft, 1);
  input_.press(parse_chord("ctrl+a"));
  input_.type(step.value);
  input_.press(parse_chord("enter"));
  return Progress::Done;
}

ScriptPlayer::Progress ScriptPlayer::play_click(const ScriptStep& step, const World& world) {
  const auto* w = look_for(step.target, step, world);
  if (w == nullptr) return Progress::Waiting;
  if (!w->enabled) fail(step, trf("'{}' is disabled", step.target));
  input_.click(middle(*w), step.act == Act::RightClick ? kRight : kLeft,
               step.act == Act::DoubleClick ? 2 : 1);
  return Progress::Done;
}

ScriptPlayer::Progress ScriptPlayer::play_pointer(const ScriptStep& step, const World& world) {
  if (!step.target.empty()) {
    const auto* w = look_for(step.target, step, world);
    if (w == nullptr) return Progress::Waiting;
    input_.move(middle(*w));
  } else if (step.act == Act::Hover) {
    input_.move({-1e6F, -1e6F});
  }
  if (step.act == Act::Scroll) input_.scroll(static_cast<float>(step.amount));
  return Progress::Done;
}

ScriptPlayer::Progress ScriptPlayer::play(const ScriptStep& step, const World& world,
                                          std::optional<CaptureRequest>& request) {
  const auto waited = world.now_s - *step_start_s_;
  switch (step.act) {
    case Act::Click:
    case Act::RightClick:
    case Act::DoubleClick: return play_click(step, world);
    case Act::Hover:
    case Act::Scroll: return play_pointer(step, world);
    case Act::Type: input_.type(step.target); return Progress::Done;
    case Act::Key: try { input_.press(parse_chord(step.target));
      } catch (const Error& e) {
        fail(step, e.what());
      }
      return Progress::Done;
    case Act::Set: return play_set(step, world);
    case Act::Wait: return waited >= step.amount ? Progress::Done : Progress::Waiting;
    case Act::WaitIdle:
      if (world.idle) return Progress::Done;
      if (waited < step.timeout_s) return Progress::Waiting;
      fail(step, trf("a job was still running after {} s", step.timeout_s));
    case Act::WaitFor:
      return look_for(step.target, step, world) != nullptr ? Progress::Done : Progress::Waiting;
    case Act::Expect: {
      const auto* w = look_for(step.target, step, world);
      if (w == nullptr) return Progress::Waiting;
      if (!step.has_value || w->value == step.value) return Progress::Done;
      if (waited < step.timeout_s) return Progress::Waiting;
      fail(step, trf("'{}' shows '{}' instead of '{}'", step.target, w->value, step.value));
    }
    case Act::Screenshot:
    case Act::Describe: request = CaptureRequest{step.act, step.target}; return Progress::Done;
  }
  return Progress::Done;
}

std::optional<ScriptPlayer::CaptureRequest> ScriptPlayer::after_frame(const World& world) {
  std::optional<CaptureRequest> request;
  last_frame_s_ = world.now_s;
  if (!input_.pending() && next_ < steps_.size()) {
    if (!step_start_s_) step_start_s_ = world.now_s;
    if (play(steps_[next_], world, request) == Progress::Done) {
      ++next_;
      phase_ = 0;
      step_start_s_.reset();
      input_.settle(kSettleFrames);
    } else if (input_.pending()) {
      input_.settle(kSettleFrames);
    }
  }
  input_.advance();
  return request;
}

bool ScriptPlayer::wants_frame(double now_s) const {
  if (input_.pending() || finished()) return true;
  if (!step_start_s_) return true;
  const ScriptStep& step = steps_[next_];
  // A plain wait leaves the frame rate to the window, as for a user who only watches.
  if (step.act == Act::Wait) return now_s - *step_start_s_ >= step.amount;
  constexpr double kLookAgainS = 0.05;
  return now_s - last_frame_s_ >= kLookAgainS;
}

}  // namespace lab::app
