#include "app/window/log_file.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kLogFormat = 1;

Json line_json(const ui::LogEntry& line) {
  Json json{{"when", static_cast<std::int64_t>(line.when)},
            {"job", line.job},
            {"severity", static_cast<int>(line.severity)},
            {"text", line.text.substr(0, kMostLineBytes)},
            {"times", line.times}};
  if (!line.seconds) return json;
  json["seconds"] = *line.seconds;
  json["page"] = ui::key_of(line.page);
  json["others"] = line.others;
  if (line.stopped) json["stopped"] = true;
  json["settings"] = line.settings.substr(0, kMostLineBytes);
  // A part of a command line would run something else.
  json["command_line"] = line.command_line.size() <= kMostLineBytes ? line.command_line : "";
  return json;
}

// Empty if the line is damaged.
std::optional<ui::LogEntry> line_from(const Json& json) {
  try {
    ui::LogEntry line;
    line.when = static_cast<std::time_t>(json.at("when").get<std::int64_t>());
    line.job = json.at("job").get<JobId>();
    const int severity = json.at("severity").get<int>();
    if (severity < 0 || severity > static_cast<int>(Severity::Error)) return std::nullopt;
    line.severity = static_cast<Severity>(severity);
    line.text = json.at("text").get<std::string>();
    line.times = json.at("times").get<int>();
    if (!json.contains("seconds")) return line;
    line.seconds = json["seconds"].get<double>();
    line.page = ui::page_named(json.at("page").get<std::string>()).value_or(ui::Page::Log);
    line.others = json.at("others").get<double>();
    line.stopped = json.value("stopped", false);
    line.settings = json.at("settings").get<std::string>();
    line.command_line = json.at("command_line").get<std::string>();
    return line;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

StoredLog read_log(const fs::path& file) {
  StoredLog log;
  try {
    std::error_code failed;
    if (!fs::exists(file, failed)) return log;
    if (fs::file_size(file) > kMostLogBytes) {
      throw Error(Errc::Corrupt, trf("{} is larger than any log", file.string()));
    }
    const Json json = Json::parse(files::read_text_file(file), nullptr, false);
    if (!json.is_object() || json.value("format", Json()) != kLogFormat ||
        !json.value("lines", Json()).is_array()) {
      throw Error(Errc::Corrupt, trf("{} is not a log", file.string()));
    }
    for (const Json& line : json["lines"]) {
      if (auto entry = line_from(line)) log.lines.push_back(std::move(*entry));
    }
    if (log.lines.size() > kKeptLines) {
      log.lines.erase(log.lines.begin(), log.lines.end() - static_cast<std::ptrdiff_t>(kKeptLines));
    }
  } catch (const std::exception& e) {
    log.problem = trf("the log of earlier sessions is lost: {}", e.what());
  }
  return log;
}

void write_log(const fs::path& file, const std::deque<ui::LogEntry>& lines) {
  Json kept = Json::array();
  const std::size_t first = lines.size() > kKeptLines ? lines.size() - kKeptLines : 0;
  for (std::size_t i = first; i < lines.size(); ++i) kept.push_back(line_json(lines[i]));
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);  // a failure shows in the write
  const Json json{{"format", kLogFormat}, {"lines", std::move(kept)}};
  files::write_file(file, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace lab::app
