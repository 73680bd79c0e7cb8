#include "app/window/settings.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

using OrderedJson = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set here
  return value == nullptr ? "" : value;
}

int side(const nlohmann::json& window, const char* key, int fallback) {
  if (!window.contains(key) || !window[key].is_number_integer()) return fallback;
  return static_cast<int>(
      std::clamp<std::int64_t>(window[key].get<std::int64_t>(), kLeastWidth, 16384));
}

}  // namespace

WindowSize fitted(WindowSize wanted, WindowSize room) {
  // Title bars and borders are about this wide; the work area excludes panels but not frames.
  constexpr int kFrameWidth = 2, kFrameHeight = 36;
  if (room.width <= 0 || room.height <= 0) return wanted;
  return {
      std::clamp(wanted.width, kLeastWidth, std::max(kLeastWidth, room.width - kFrameWidth)),
      std::clamp(wanted.height, kLeastHeight, std::max(kLeastHeight, room.height - kFrameHeight))};
}

fs::path settings_file() {
  fs::path base = variable("XDG_CONFIG_HOME");
  if (base.empty() || !base.is_absolute()) {
    const fs::path home = variable("HOME");
    if (home.empty()) return {};
    base = home / ".config";
  }
  return base / "device-lab" / "settings.json";
}

Settings load_settings(const fs::path& file) {
  Settings settings;
  std::error_code ignored;
  if (file.empty() || !fs::exists(file, ignored)) return settings;
  const auto json = nlohmann::json::parse(files::read_file(file), nullptr, false);
  if (!json.is_object()) {
    throw Error(Errc::Corrupt, trf("settings: {} is not a JSON object; the defaults are "
                                   "used and the file is replaced on exit",
                                   file.string()));
  }
  if (json.contains("window") && json["window"].is_object()) {
    settings.window.width = side(json["window"], "width", settings.window.width);
    settings.window.height = side(json["window"], "height", settings.window.height);
  }
  if (json.contains("view") && json["view"].is_object()) {
    for (const auto& [key, value] : json["view"].items()) {
      if (value.is_string()) settings.view[key] = value.get<std::string>();
    }
  }
  return settings;
}

void save_settings(const Settings& settings, const fs::path& file) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (failed) {
    throw Error(Errc::Io, trf("settings: the folder {} cannot be created: {}",
                              file.parent_path().string(), failed.message()));
  }
  const fs::file_status there = fs::status(file, failed);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    throw Error(Errc::Io, trf("settings: {} is not a regular file and is not replaced; "
                              "remove it",
                              file.string()));
  }
  OrderedJson json;
  json["window"] = {{"width", settings.window.width}, {"height", settings.window.height}};
  json["view"] = settings.view;
  files::write_file(file, json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
}

}  // namespace lab::app
