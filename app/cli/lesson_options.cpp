// Options of the command lesson.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "app/cli/field_options.h"
#include "app/cli/suggest.h"
#include "compute/core/error.h"
#include "compute/core/events/lesson.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

double read_number(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(value)) return value;
  throw Error(Errc::Usage, trf("'{}' is not a number", text));
}

}  // namespace

void add_lesson_options(CLI::App& app, LessonOptions& out, LessonText& text) {
  add_cpu_devices(app, [&out](int n) { out.cpu_devices = n; });
  add_emulated_gpus(app, out.emulated_gpus);
  add_json(app, out.json);
  app.add_option("NAME", text.name, tr("Lesson; 'all' runs every one; without a name, lists them"))
      ->type_name("");
  add_value(app, "--guess", "GUESS", tr("The learner's answer to the lesson's question"),
            [&text](const std::string& value) { text.request.guess = value; });
  add_value(app, "--devices", "LIST", tr("Devices to use; default: the machine's first ones"),
            [&text](const std::string& value) { text.request.devices = parse_devices(value); });
  add_value(app, "--vary", "VALUE", tr("The lesson's one setting, such as a size"),
            [&text](const std::string& value) { text.request.vary = read_number(value); });
  add_value(app, "--save", "FILE.safetensors", tr("Keep the state file of the lesson network"),
            [&text](const std::string& value) { text.request.save_file = value; });
  app.add_option(
         "--class", text.class_files,
         tr("Compare the results of several people: files written by 'lesson NAME --guess X "
            "--json' with the same --vary, or folders with them"))
      ->type_name("FILE...");
}

void finish_lessons(LessonOptions& out, const LessonText& text,
                    const std::vector<std::string>& names) {
  if (text.name.empty() && !text.class_files.empty()) {
    throw Error(Errc::Usage,
                tr("device-lab lesson --class: name the lesson: 'device-lab lesson link "
                   "--class FILE...'"));
  }
  if (text.name.empty()) return;
  out.all = text.name == "all";
  if (!text.class_files.empty()) {
    if (out.all || text.request.guess || text.request.vary) {
      throw Error(
          Errc::Usage,
          tr("device-lab lesson --class: compares the results of a single lesson; omit 'all', "
             "--guess and --vary"));
    }
    out.compare = CompareClass{text.name, text.class_files};
  }
  if (out.all && (text.request.guess || text.request.vary || !text.request.save_file.empty())) {
    throw Error(Errc::Usage,
                tr("device-lab lesson all: --guess, --vary and --save belong to a single lesson"));
  }
  if (!out.all && std::find(names.begin(), names.end(), text.name) == names.end()) {
    throw Error(Errc::Usage, trf("unknown lesson '{}'", text.name) + way_out(text.name, names));
  }
  StartLesson request = text.request;
  for (const std::string& name : names) {
    request.lesson = name;
    if (out.all || name == text.name) out.lessons.push_back(request);
  }
}

}  // namespace lab::app
