// Guesses and results of several people, read from the JSON lines that a lesson prints.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/experiments/lessons/lesson.h"
#include "compute/experiments/lessons/lesson_experiment.h"

namespace lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// The named files, and the JSON files of the named folders in the order of their names.
std::vector<fs::path> class_files(const std::vector<std::string>& named) {
  std::vector<fs::path> files;
  for (const std::string& name : named) {
    std::error_code failed;
    if (!fs::is_directory(name, failed)) {
      files.emplace_back(name);
      continue;
    }
    std::vector<fs::path> inside;
    for (const auto& entry : fs::directory_iterator(name, failed)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".json" || extension == ".jsonl") inside.push_back(entry.path());
    }
    if (failed) {
      throw Error(Errc::Io, trf("class: cannot read the folder {}: {}; choose another folder", name,
                                failed.message()));
    }
    if (inside.empty()) {
      throw Error(Errc::NotFound,
                  trf("class: the folder {} contains no .json file; save each result there with "
                      "'device-lab lesson NAME --guess X --json > FILE.json'",
                      name));
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  if (files.empty()) throw Error(Errc::Usage, tr("class: no file is named; name at least one"));
  return files;
}

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error(Errc::Corrupt,
              trf("class: {}: {}; write it with 'device-lab lesson NAME --guess X --json'",
                  file.string(), why));
}

// The values of a guess or an answer, as many as the question asks for.
std::optional<LessonAnswer> read_values(const fs::path& file, const LessonQuestion& question,
                                        const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  LessonAnswer answer;
  const std::size_t expected = std::max<std::size_t>(1, question.at.size());
  if (found->is_array()) {
    for (const Json& value : *found) {
      if (value.is_number()) answer.values.push_back(value.get<double>());
    }
  }
  if (!found->is_array() || answer.values.size() != expected || found->size() != expected) {
    refuse(file, trf("\"{}\" is not a list of numbers of length {}", key, expected));
  }
  const double first = answer.values.front();
  const auto choices = static_cast<double>(question.choices.size());
  if (choices > 0 && !(first >= 0 && first < choices && first == std::floor(first))) {
    refuse(file, trf("\"{}\" is {}, which is none of the {} choices", key, first,
                     question.choices.size()));
  }
  return answer;
}

bool is_of(const Json& object, const char* type, const std::string& lesson) {
  return object.is_object() && object.value("type", Json()) == type &&
         object.value("lesson", Json()) == lesson;
}

ClassEntry read_entry(const fs::path& file, const LessonInfo& info) {
  const std::string text = files::read_text_file(file);
  ClassEntry entry{.file = file.filename().string()};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) refuse(file, tr("a line is not a JSON object"));
    if (is_of(object, "guess", info.name)) {
      entry.guess = read_values(file, info.question, object, "values");
    }
    if (is_of(object, "done", info.name)) {
      entry.answer = read_values(file, info.question, object, "answer");
      const Json vary = object.value("vary", Json());
      if (vary.is_number()) entry.vary = vary.get<double>();
    }
  }
  if (!entry.guess && !entry.answer) {
    refuse(file, trf("it holds neither a guess nor a result of the lesson {}", info.name));
  }
  return entry;
}

// Answers to different settings are no answers to the same question.
void check_same_setting(const std::vector<ClassEntry>& people) {
  const ClassEntry* first = nullptr;
  for (const ClassEntry& one : people) {
    if (!one.vary) continue;
    if (first == nullptr) first = &one;
    if (*one.vary == *first->vary) continue;
    throw Error(Errc::Usage,
                trf("class: {} was measured with the setting {}, {} with {}; compare files of the "
                    "same --vary",
                    first->file, *first->vary, one.file, *one.vary));
  }
}

class ClassComparison final : public Experiment {
 public:
  explicit ClassComparison(CompareClass request) : request_(std::move(request)) {}

  void run(RunContext& ctx) override {
    const LessonInfo& info = lessons::find_lesson(request_.lesson).info;
    LessonClass all;
    const std::vector<fs::path> files = class_files(request_.files);
    for (std::size_t i = 0; i < files.size(); ++i) {
      ctx.checkpoint();
      ctx.progress(static_cast<double>(i) / static_cast<double>(files.size()), files[i].string());
      all.people.push_back(read_entry(files[i], info));
    }
    check_same_setting(all.people);
    all.bins = class_histogram(info.question, all.people);
    ctx.emit(LessonEvent{info.name, std::move(all)});
  }

 private:
  const CompareClass request_;
};

}  // namespace

std::unique_ptr<Experiment> make_class_experiment(const CompareClass& request) {
  return std::make_unique<ClassComparison>(request);
}

}  // namespace lab
