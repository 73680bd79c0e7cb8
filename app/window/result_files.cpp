#include "app/window/result_files.h"

#include <algorithm>
#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/window/kept_device.h"
#include "app/window/result_json.h"
#include "compute/core/error.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;
using Json = FieldJson;
using kept::add_to;
using kept::KnownDevice;
using kept::object_at;
using kept::read_member;
using kept::refuse;
using kept::Writer;

constexpr int kResultFormat = 1;

// --- the results of each page -----------------------------------------------------------------

template <typename Results>
inline constexpr ui::Page kPageOf = ui::Page::Transfers;
template <>
inline constexpr ui::Page kPageOf<ui::MatmulResults> = ui::Page::Matmul;
template <>
inline constexpr ui::Page kPageOf<ui::ScalingResults> = ui::Page::Scaling;

Json request_json(const StartTransfers& request) {
  return request_to_json(request);
}

Json request_json(const StartMatmul& request) {
  return request_to_json(request);
}

Json request_json(const StartScaling& request) {
  Json json = request_to_json(request);
  json["measure"] = request.measure;
  json["training"] = request_to_json(request.training);
  return json;
}

void read_request(const Json& json, StartTransfers& request) {
  request = request_from_json<StartTransfers>(json, tr("a transfer sweep"));
}

void read_request(const Json& json, StartMatmul& request) {
  request = request_from_json<StartMatmul>(json, tr("a matmul run"));
}

void read_request(const Json& json, StartScaling& request) {
  request = request_from_json<StartScaling>(json, tr("a scaling run"));
  request.measure = read_member<bool>(json, "measure");
  request.training =
      request_from_json<StartTraining>(object_at(json, "training"), tr("a training run"));
  if (find_model(request.training.model) == nullptr) refuse("model");
}

void add_results(Json& json, const ui::TransferResults& results) {
  Json samples = Json::array(), fits = Json::array();
  for (const ui::TransferCase& one : results.cases) {
    for (const ui::MeasuredTransfer& sample : one.samples) add_to(samples, sample);
    if (one.fit) add_to(fits, *one.fit);
  }
  json["samples"] = std::move(samples);
  json["fits"] = std::move(fits);
  json["timelines"] = Writer::written(results.timelines);
  json["payoffs"] = Writer::written(results.payoffs);
}

void read_into(const Json& json, ui::TransferResults& results) {
  for (const auto& s : read_member<std::vector<ui::MeasuredTransfer>>(json, "samples")) {
    results.add(s, 0, s.others);
  }
  for (const auto& fit : read_member<std::vector<TransferFit>>(json, "fits")) results.add(fit);
  results.timelines = read_member<std::vector<TransferTimeline>>(json, "timelines");
  results.payoffs = read_member<std::vector<TransferPayoff>>(json, "payoffs");
}

void add_results(Json& json, const ui::MatmulResults& results) {
  Json samples = Json::array();
  for (const ui::KernelResults& kernel : results.kernels) {
    for (const MatmulSample& sample : kernel.samples) add_to(samples, sample);
  }
  json["samples"] = std::move(samples);
  json["peaks"] = Writer::written(results.peaks);
  json["ceilings"] = Writer::written(results.ceilings);
  json["together"] = Writer::written(results.together);
  json["speedups"] = Writer::written(results.speedups);
  json["failed"] = Writer::written(results.failed);
}

void read_into(const Json& json, ui::MatmulResults& results) {
  for (const auto& s : read_member<std::vector<MatmulSample>>(json, "samples")) results.add(s, 0);
  for (const auto& p : read_member<std::vector<PeakSample>>(json, "peaks")) results.add(p);
  for (const auto& c : read_member<std::vector<CeilingsMeasured>>(json, "ceilings")) {
    results.add(c);
  }
  results.together = read_member<std::vector<TogetherSample>>(json, "together");
  results.speedups = read_member<std::vector<TogetherSpeedup>>(json, "speedups");
  results.failed = read_member<std::vector<RungFailed>>(json, "failed");
}

void add_results(Json& json, const ui::ScalingResults& results) {
  Json points = Json::array(), predictions = Json::array(), steps = Json::array();
  for (const ScalingMode mode : enum_values<ScalingMode>()) {
    for (const ScalingPoint& point : results.measured(mode).points) {
      add_to(points, point);
      const ui::TimelineByLane* const step = results.step(mode, point.devices);
      if (step != nullptr) add_to(steps, step->timeline());
    }
    for (const ScalingPrediction& one : results.checked(mode).points) add_to(predictions, one);
    for (const ScalingPrediction& one : results.predicted(mode).points) add_to(predictions, one);
    ScalingPrediction none;
    none.mode = mode;
    none.withheld = results.withheld(mode);
    if (!none.withheld.empty()) add_to(predictions, none);
  }
  json["measured_with"] = request_json(results.measured_with);
  json["points"] = std::move(points);
  json["predictions"] = std::move(predictions);
  json["steps"] = std::move(steps);
}

void read_into(const Json& json, ui::ScalingResults& results) {
  read_request(object_at(json, "measured_with"), results.measured_with);
  results.measured_t_s = -static_cast<double>(results.measured_at);  // before this session
  for (const auto& p : read_member<std::vector<ScalingPoint>>(json, "points")) results.add(p);
  for (const auto& p : read_member<std::vector<ScalingPrediction>>(json, "predictions")) {
    results.add(p);
  }
  for (const auto& s : read_member<std::vector<StepTimeline>>(json, "steps")) results.add(s);
}

// The devices that the figures are of.
std::vector<Device> devices_in(const ui::TransferResults& results) {
  std::vector<Device> devices;
  for (const auto& [from, to] : results.pairs()) devices.insert(devices.end(), {from, to});
  for (const TransferTimeline& timeline : results.timelines) devices.push_back(timeline.device);
  return devices;
}

std::vector<Device> devices_in(const ui::MatmulResults& results) {
  std::vector<Device> devices = results.devices();
  for (const PeakSample& peak : results.peaks) devices.push_back(peak.device);
  for (const TogetherSample& sample : results.together) devices.push_back(sample.device);
  return devices;
}

std::vector<Device> devices_in(const ui::ScalingResults& results) {
  if (!results.has_measured()) return {};
  const std::vector<Device>& all = results.measured_with.training.devices;
  return all.empty() ? std::vector{cpu()} : all;
}

template <typename Results>
std::vector<KnownDevice> known_devices(const Results& results, const MachineInfo& machine) {
  std::vector<KnownDevice> known;
  for (const Device device : devices_in(results)) {
    const DeviceInfo* const info = device_called(machine, to_string(device));
    const bool listed = std::ranges::find(known, device, &KnownDevice::device) != known.end();
    if (info != nullptr && !listed) known.push_back({device, info->name, info->threads});
  }
  return known;
}

// Whether each device of the results was recorded and is as it was.
template <typename Results>
bool same_devices(const Results& results, const std::vector<KnownDevice>& known,
                  const MachineInfo& machine) {
  return std::ranges::all_of(devices_in(results), [&](Device device) {
    const auto was = std::ranges::find(known, device, &KnownDevice::device);
    const DeviceInfo* const now = device_called(machine, to_string(device));
    return was != known.end() && is_same_device(now, was->name, was->threads);
  });
}

template <typename Results>
Json results_json(const Results& results, const MachineInfo& machine) {
  Json json{{"request", request_json(results.request)},
            {"measured", static_cast<std::int64_t>(results.measured_at)},
            {"others_share", results.others},
            {"devices", Writer::written(known_devices(results, machine))},
            {"skipped", Writer::written(results.skipped)}};
  add_results(json, results);
  return json;
}

// Empty if they are of other devices than those of `machine`.
template <typename Results>
Results results_in(const Json& json, const MachineInfo& machine) {
  Results results;
  if (json.is_null()) return results;
  if (!json.is_object()) refuse("runs");
  read_request(object_at(json, "request"), results.request);
  results.measured_at = static_cast<std::time_t>(read_member<std::int64_t>(json, "measured"));
  results.earlier = true;
  results.others = json.value("others_share", 0.0);  // absent in files of earlier versions
  results.skipped = read_member<std::vector<Skipped>>(json, "skipped");
  read_into(json, results);
  const auto known = read_member<std::vector<KnownDevice>>(json, "devices");
  return same_devices(results, known, machine) ? results : Results();
}

constexpr std::array kKeptKinds = {std::pair("sweep", ui::RunKind::Sweep),
                                   std::pair("together", ui::RunKind::Together)};

std::string name_of(ui::RunKind kind) {
  const auto* const found =
      std::ranges::find(kKeptKinds, kind, &std::pair<const char*, ui::RunKind>::second);
  return found == kKeptKinds.end() ? "" : found->first;
}

// How the page's last run ended, unless it failed or was live.
template <typename Results>
Json ended_json(const ui::KeptRuns<Results>& runs, const ui::PageState& state) {
  const bool kept = runs.last() != ui::RunKind::Live && state.phase == ui::Phase::Done;
  if (!kept || runs.of(runs.last()).current.empty()) return nullptr;
  return {{"run", name_of(runs.last())},
          {"cancelled", state.cancelled},
          {"seconds", state.seconds},
          {"others", state.others}};
}

template <typename Results>
void read_ended(const Json& json, StoredResults<Results>& kept) {
  const Results& last = kept.runs.of(kept.runs.last()).current;
  if (json.is_null() || last.empty()) return;
  if (read_member<std::string>(json, "run") != name_of(kept.runs.last())) return;
  kept.state.phase = ui::Phase::Done;
  kept.state.command = last.request;
  kept.state.cancelled = read_member<bool>(json, "cancelled");
  kept.state.seconds = read_member<double>(json, "seconds");
  kept.state.others = read_member<double>(json, "others");
}

}  // namespace

template <typename Results>
StoredResults<Results> read_results(const fs::path& file, const MachineInfo& machine) {
  try {
    StoredResults<Results> kept;
    std::error_code failed;
    if (!fs::exists(file, failed)) return kept;
    files::require_regular(file);
    if (fs::file_size(file) > kMostResultBytes) {
      throw Error(Errc::Corrupt, trf("{} is larger than any results", file.string()));
    }
    const Json json = Json::parse(files::read_text_file(file), nullptr, false);
    if (!json.is_object() || json.value("format", Json()) != kResultFormat) {
      throw Error(Errc::Corrupt, trf("{} is not a file of results", file.string()));
    }
    const Json& runs = object_at(json, "runs");
    for (const auto& [name, kind] : kKeptKinds) {
      if (!runs.contains(name)) continue;
      const Json& run = object_at(runs, name);
      auto current = results_in<Results>(run.value("current", Json()), machine);
      kept.other_devices = kept.other_devices || current.empty();
      kept.runs.restore(kind, std::move(current),
                        results_in<Results>(run.value("replaced", Json()), machine));
    }
    read_ended(json.value("ended", Json()), kept);
    return kept;
  } catch (const std::exception& e) {
    StoredResults<Results> none;
    none.problem = trf("the last results of the page {} are lost: {}",
                       tr(ui::name_of(kPageOf<Results>)), e.what());
    return none;
  }
}

template <typename Results>
bool has_news(const Results& results, std::time_t kept) {
  if (results.measured_at != kept) return true;  // it may be earlier: clocks are set back
  if constexpr (std::is_same_v<Results, ui::ScalingResults>) {
    return !results.request.measure && results.has_prediction();
  }
  return false;
}

template <typename Results>
void write_results(const fs::path& file, const ui::KeptRuns<Results>& runs,
                   const ui::PageState& state, const MachineInfo& machine) {
  Json kept = Json::object();
  for (const auto& [name, kind] : kKeptKinds) {
    const Results& current = runs.of(kind).current;
    if (current.empty()) continue;
    kept[name] = {{"current", results_json(current, machine)}};
    const Results& replaced = runs.replaced(kind).current;
    if (!replaced.empty()) kept[name]["replaced"] = results_json(replaced, machine);
  }
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);  // a failure shows in the write
  const Json json{
      {"format", kResultFormat}, {"runs", std::move(kept)}, {"ended", ended_json(runs, state)}};
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (text.size() > kMostResultBytes) {
    throw Error(Errc::Io, trf("they would take more than {}",
                              format_bytes(static_cast<std::int64_t>(kMostResultBytes))));
  }
  files::write_file(file, text);
}

template StoredResults<ui::TransferResults> read_results(const fs::path&, const MachineInfo&);
template StoredResults<ui::MatmulResults> read_results(const fs::path&, const MachineInfo&);
template StoredResults<ui::ScalingResults> read_results(const fs::path&, const MachineInfo&);
template bool has_news(const ui::TransferResults&, std::time_t);
template bool has_news(const ui::MatmulResults&, std::time_t);
template bool has_news(const ui::ScalingResults&, std::time_t);
template void write_results(const fs::path&, const ui::KeptRuns<ui::TransferResults>&,
                            const ui::PageState&, const MachineInfo&);
template void write_results(const fs::path&, const ui::KeptRuns<ui::MatmulResults>&,
                            const ui::PageState&, const MachineInfo&);
template void write_results(const fs::path&, const ui::KeptRuns<ui::ScalingResults>&,
                            const ui::PageState&, const MachineInfo&);

}  // namespace lab::app
