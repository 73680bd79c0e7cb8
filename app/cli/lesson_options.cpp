// Options of the command lesson.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/cli/field_options.h"
#include "app/cli/suggest.h"
#include "compute/core/error.h"
#include "compute/core/events/lesson.h"

namespace lab::app {
namespace {

double read_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(value)) return value;
  throw Error(Errc::Usage, fmt::format("'{}' is not a number", text));
}

}  // namespace

void add_lesson_options(CLI::App& app, LessonOptions& out, LessonText& text) {
  add_cpu_devices(app, [&out](int n) { out.cpu_devices = n; });
  add_json(app, out.json);
  app.add_option("NAME", text.name, "Lesson; 'all' runs every one; without a name, lists them")
      ->type_name("");
  add_value(app, "--guess", "GUESS", "The learner's answer to the lesson's question",
            [&text](const std::string& value) { text.request.guess = value; });
  add_value(app, "--devices", "LIST", "Devices to use; default: the machine's first ones",
            [&text](const std::string& value) { text.request.devices = parse_devices(value); });
  add_value(app, "--vary", "VALUE", "The lesson's one setting, such as a size",
            [&text](const std::string& value) { text.request.vary = read_number(value); });
}

void finish_lessons(LessonOptions& out, const LessonText& text,
                    const std::vector<std::string>& names) {
  if (text.name.empty()) return;
  out.all = text.name == "all";
  if (out.all && (text.request.guess || text.request.vary)) {
    throw Error(Errc::Usage, "device-lab lesson all: --guess and --vary belong to a single lesson");
  }
  if (!out.all && std::find(names.begin(), names.end(), text.name) == names.end()) {
    throw Error(Errc::Usage,
                fmt::format("unknown lesson '{}'{}", text.name, way_out(text.name, names)));
  }
  StartLesson request = text.request;
  for (const std::string& name : names) {
    request.lesson = name;
    if (out.all || name == text.name) out.lessons.push_back(request);
  }
}

}  // namespace lab::app
