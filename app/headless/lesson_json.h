#pragma once
// Lessons as JSON objects, one per line.
#include <nlohmann/json.hpp>
#include <optional>

#include "compute/core/events/lesson.h"

namespace lab::app {

// "guess", "prediction", "sample", "span", "gap", "frame", "map" or "class"; empty for results that
// only the window shows, and for LessonDone, which is part of the closing object.
std::optional<nlohmann::ordered_json> lesson_json(const LessonEvent& event);

// {"type":"lesson", ...}: an entry of the list of lessons.
nlohmann::ordered_json lesson_json(const LessonInfo& info);

// Adds "lesson", "sentence", "checks" and "answer" to an object.
void add_lesson_result(nlohmann::ordered_json& json, const std::string& lesson,
                       const LessonDone& done);

}  // namespace lab::app
