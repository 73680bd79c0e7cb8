#include "app/window/tour_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "app/headless/json_lines.h"
#include "app/window/kept_device.h"
#include "compute/core/error.h"
#include "compute/core/files/json_fields.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;
using files::JsonFields;
using Json = nlohmann::ordered_json;

constexpr int kTourFormat = 1;
constexpr std::size_t kMostTourBytes = std::size_t{1} << 20;  // a larger file is not read

// The inverse of json_line() for a complete figure.
TourFigure figure_in(const JsonFields& fields) {
  TourFigure figure;
  figure.device = parse_device(fields.line("device"));
  figure.question = fields.one_of("question", enum_values<TourQuestion>());
  figure.complete = true;
  if (fields.has("reason")) {
    figure.missing = fields.text("reason");
    return figure;
  }
  figure.value = fields.positive("value");
  figure.median = fields.positive("median");
  figure.low = fields.positive("p10");
  figure.high = fields.positive("p90");
  figure.n = fields.count("n");
  figure.unstable = fields.flag("unstable");
  if (fields.has("threads")) {
    figure.threads = static_cast<int>(
        std::min<std::int64_t>(fields.count("threads"), std::numeric_limits<int>::max()));
  }
  if (fields.has("plain_share")) figure.plain_share = fields.positive("plain_share");
  if (fields.has("best_share")) figure.best_share = fields.positive("best_share");
  if (fields.has("share_unsteady")) figure.share_unsteady = fields.flag("share_unsteady");
  if (fields.has("all_threads_s")) figure.all_threads_s = fields.positive("all_threads_s");
  return figure;
}

}  // namespace

StoredTour read_tour(const fs::path& file, const MachineInfo& machine) {
  StoredTour tour;
  try {
    std::error_code failed;
    if (!fs::exists(file, failed)) return tour;
    const std::string where = file.string();
    if (fs::file_size(file) > kMostTourBytes) {
      throw Error(Errc::Corrupt, trf("{} is larger than any tour", where));
    }
    const nlohmann::json json = files::parse_object(files::read_text_file(file), where);
    const JsonFields fields(json, where);
    if (fields.count("format") != kTourFormat) fields.refuse(tr("another version's format"));
    ui::TourResults results;
    results.measured = static_cast<std::time_t>(fields.count("measured"));
    results.others = fields.non_negative("others_share");
    results.earlier = true;
    for (const nlohmann::json& one : fields.list("figures")) {
      const JsonFields entry(one, where + ": figures");
      const DeviceInfo* const info = device_called(machine, entry.line("device"));
      if (!is_same_device(info, entry.line("name"), entry.count("device_threads", 0))) continue;
      const TourFigure figure = figure_in(entry);
      results.add(figure);
      if (!entry.has("measured")) continue;
      const auto measured = static_cast<std::time_t>(entry.count("measured"));
      results.older.push_back({figure.device, figure.question, measured});
    }
    tour.results = std::move(results);
  } catch (const std::exception& e) {
    tour.problem = trf("the figures of the last tour are lost: {}", e.what());
  }
  return tour;
}

void write_tour(const fs::path& file, const ui::TourResults& results, const MachineInfo& machine) {
  Json figures = Json::array();
  for (const TourFigure& figure : results.figures) {
    const auto line = json_line(figure);
    const DeviceInfo* const info = device_called(machine, to_string(figure.device));
    if (!line || info == nullptr) continue;
    Json json = Json::parse(*line);
    json["name"] = info->name;
    json["device_threads"] = info->threads;
    if (const std::time_t older = results.older_date(figure); older != 0) {
      json["measured"] = static_cast<std::int64_t>(older);
    }
    figures.push_back(std::move(json));
  }
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);  // a failure shows in the write
  const Json json{{"format", kTourFormat},
                  {"measured", static_cast<std::int64_t>(results.measured)},
                  {"others_share", results.others},
                  {"figures", std::move(figures)}};
  files::write_file(file, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace lab::app
