#include "app/window/result_files.h"

#include <algorithm>
#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/fields/field_json.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;
using Json = FieldJson;

constexpr int kResultFormat = 1;

// --- members ----------------------------------------------------------------------------------
// members(io, value) calls io("name", member) for each member that is kept; Writer and Reader below
// both use these lists.

template <typename Io>
void members(Io& io, Timing& t) {
  io("median_s", t.median_s);
  io("p10_s", t.p10_s);
  io("p90_s", t.p90_s);
  io("min_s", t.min_s);
  io("max_s", t.max_s);
  io("n", t.n);
  io("warmup", t.warmup);
  io("unstable", t.unstable);
}

template <typename Io>
void members(Io& io, Conditions& c) {
  std::optional<double> clock_mhz;
  if (c.clock_mhz) clock_mhz = *c.clock_mhz;
  io("unix_time_s", c.unix_time_s);
  io("clock_mhz", clock_mhz);
  io("clock_nominal", c.clock_nominal);
  if (clock_mhz) c.clock_mhz = *clock_mhz;
}

template <typename Io>
void members(Io& io, Skipped& s) {
  io("what", s.what);
  io("reason", s.reason);
}

template <typename Io>
void members(Io& io, RungFailed& f) {
  io("device", f.device);
  io("kernel", f.kernel);
  io("dtype", f.dtype);
  io("n", f.n);
  io("reason", f.reason);
  io("max_error", f.max_error);
}

template <typename Io>
void members(Io& io, MatmulSample& s) {
  io("device", s.device);
  io("kernel", s.kernel);
  io("library", s.library);
  io("dtype", s.dtype);
  io("m", s.m);
  io("n", s.n);
  io("k", s.k);
  io("time", s.time);
  io("gflops", s.gflops);
  io("verified", s.verified);
  io("share_of_library", s.share_of_library);
  io("share_of_peak", s.share_of_peak);
  io("max_error", s.max_error);
  io("conditions", s.conditions);
}

template <typename Io>
void members(Io& io, PeakSample& p) {
  io("device", p.device);
  io("dtype", p.dtype);
  io("threads", p.threads);
  io("amx", p.amx);
  io("time", p.time);
  io("gflops", p.gflops);
}

template <typename Io>
void members(Io& io, ComputeCeiling& c) {
  io("name", c.name);
  io("dtype", c.dtype);
  io("threads", c.threads);
  io("gflops", c.gflops);
  io("time", c.time);
}

template <typename Io>
void members(Io& io, BandwidthCeiling& c) {
  io("name", c.name);
  io("cache_bytes", c.cache_bytes);
  io("working_set_bytes", c.working_set_bytes);
  io("copied", c.copied);
  io("gb_per_s", c.gb_per_s);
  io("median_gb_per_s", c.median_gb_per_s);
  io("p10_gb_per_s", c.p10_gb_per_s);
  io("p90_gb_per_s", c.p90_gb_per_s);
  io("time", c.time);
}

template <typename Io>
void members(Io& io, CeilingsMeasured& c) {
  io("device", c.device);
  io("threads", c.threads);
  io("compute", c.compute);
  io("bandwidth", c.bandwidth);
}

template <typename Io>
void members(Io& io, TogetherSample& s) {
  io("device", s.device);
  io("together", s.together);
  io("n", s.n);
  io("time", s.time);
  io("gflops", s.gflops);
  io("verified", s.verified);
}

template <typename Io>
void members(Io& io, TogetherSpeedup& s) {
  io("devices", s.devices);
  io("n", s.n);
  io("products", s.products);
  io("rounds", s.rounds);
  io("in_sequence_s", s.in_sequence_s);
  io("at_once_s", s.at_once_s);
  io("speedup", s.speedup);
  io("p10", s.p10);
  io("p90", s.p90);
  io("shares_cores", s.shares_cores);
}

// What a sample and a fit share.
template <typename Io, typename Transfer>
void transfer_case(Io& io, Transfer& t) {
  io("from", t.from);
  io("to", t.to);
  io("memory", t.memory);
  io("op", t.op);
  io("mover", t.mover);
  io("peer", t.peer);
  io("threads", t.threads);
}

template <typename Io>
void members(Io& io, ui::MeasuredTransfer& s) {
  transfer_case(io, s);
  io("bytes", s.bytes);
  io("time", s.time);
  io("gb_per_s", s.gb_per_s);
  io("verified", s.verified);
  io("conditions", s.conditions);
  io("others_share", s.others);
}

template <typename Io>
void members(Io& io, TransferLevel& l) {
  io("name", l.name);
  io("to_bytes", l.to_bytes);
  io("sizes", l.sizes);
  io("latency_s", l.latency_s);
  io("gb_per_s", l.gb_per_s);
  io("residual", l.residual);
}

template <typename Io>
void members(Io& io, FasterRange& r) {
  io("from_bytes", r.from_bytes);
  io("to_bytes", r.to_bytes);
}

template <typename Io>
void members(Io& io, TransferFit& f) {
  transfer_case(io, f);
  io("levels", f.levels);
  io("faster_than_one", f.faster_than_one);
}

template <typename Io>
void members(Io& io, TransferSpan& s) {
  io("stream", s.stream);
  io("what", s.what);
  io("begin_s", s.begin_s);
  io("end_s", s.end_s);
}

template <typename Io>
void members(Io& io, TransferTimeline& t) {
  io("device", t.device);
  io("bytes", t.bytes);
  io("runs", t.runs);
  io("spans", t.spans);
  io("overlapped_s", t.overlapped_s);
  io("serial_s", t.serial_s);
}

template <typename Io>
void members(Io& io, TransferPayoff& p) {
  io("host", p.host);
  io("gpu", p.gpu);
  io("memory", p.memory);
  io("passes", p.passes);
  io("from_bytes", p.from_bytes);
}

template <typename Io>
void members(Io& io, StepSplit& s) {
  io("compute_s", s.compute_s);
  io("all_reduce_s", s.all_reduce_s);
  io("exposed_s", s.exposed_s);
  io("imbalance_s", s.imbalance_s);
}

template <typename Io>
void members(Io& io, ScalingPoint& p) {
  io("mode", p.mode);
  io("devices", p.devices);
  io("batch", p.batch);
  io("step", p.step);
  io("images_per_s", p.images_per_s);
  io("speedup", p.speedup);
  io("efficiency", p.efficiency);
  io("split", p.split);
  io("hidden_share", p.hidden_share);
  io("test_acc", p.test_acc);
  io("accuracy_steps", p.accuracy_steps);
  io("shares_cores", p.shares_cores);
  io("conditions", p.conditions);
}

template <typename Io>
void members(Io& io, ScalingPrediction& p) {
  io("mode", p.mode);
  io("devices", p.devices);
  io("link", p.link);
  io("basis", p.basis);
  io("batch", p.batch);
  io("step_s", p.step_s);
  io("images_per_s", p.images_per_s);
  io("speedup", p.speedup);
  io("efficiency", p.efficiency);
  io("split", p.split);
  io("process_s", p.process_s);
  io("fixed_s", p.fixed_s);
  io("measured_step_s", p.measured_step_s);
  io("withheld", p.withheld);
}

template <typename Io>
void members(Io& io, TimelineSpan& s) {
  io("device", s.device);
  io("lane", s.lane);
  io("phase", s.phase);
  io("part", s.part);
  io("begin_s", s.begin_s);
  io("end_s", s.end_s);
  io("flop", s.flop);
  io("bytes", s.bytes);
}

template <typename Io>
void members(Io& io, TimelineDevice& d) {
  io("device", d.device);
  io("images", d.images);
}

template <typename Io>
void members(Io& io, TimelineLayer& l) {
  io("name", l.name);
  io("kind", l.kind);
  io("shape", l.shape);
}

template <typename Io>
void members(Io& io, TimelineBucket& b) {
  io("bytes", b.bytes);
  io("ready_s", b.ready_s);
  io("done_s", b.done_s);
}

template <typename Io>
void members(Io& io, StepTimeline& t) {
  io("model", t.model);
  io("step", t.step);
  io("start_s", t.start_s);
  io("seconds", t.seconds);
  io("loss", t.loss);
  io("timed", t.timed);
  io("sums_unseen", t.sums_unseen);
  io("devices", t.devices);
  io("layers", t.layers);
  io("buckets", t.buckets);
  io("spans", t.spans);
  io("lost", t.lost);
}

// A device as it was measured.
struct KnownDevice {
  Device device;
  std::string name;
  int threads = 0;
};

template <typename Io>
void members(Io& io, KnownDevice& d) {
  io("device", d.device);
  io("name", d.name);
  io("threads", d.threads);
}

// --- values that make no sense ----------------------------------------------------------------

[[noreturn]] void refuse(const char* name) {
  throw Error(Errc::Corrupt, trf("the field \"{}\" is missing or not valid", name));
}

template <typename Value>
void check(const char*, const Value&) {}

void check(const char* name, const Timing& t) {
  const bool ascending = t.p10_s >= 0 && t.p10_s <= t.median_s && t.median_s <= t.p90_s;
  if (!ascending || t.n < 0) refuse(name);
}

void check(const char* name, const MatmulSample& s) {
  if (s.n <= 0 || s.m <= 0 || s.k <= 0) refuse(name);
}

void check(const char* name, const ui::MeasuredTransfer& s) {
  if (s.bytes <= 0 || s.threads <= 0) refuse(name);
}

void check(const char* name, const ScalingPoint& p) {
  if (p.devices <= 0 || p.batch <= 0) refuse(name);
}

// A prediction that was withheld is kept without a device count.
void check(const char* name, const ScalingPrediction& p) {
  if (p.devices < (p.withheld.empty() ? 1 : 0)) refuse(name);
}

void check(const char* name, const StepTimeline& t) {
  const auto in = [](int place, std::size_t size) {
    return place >= 0 && static_cast<std::size_t>(place) < size;
  };
  for (const TimelineSpan& s : t.spans) {
    const bool of_layer = s.phase == StepPhase::Forward || s.phase == StepPhase::Backward;
    const bool of_bucket = s.phase == StepPhase::AllReduce && s.part != -1;
    if (!in(s.device, t.devices.size()) || (of_layer && !in(s.part, t.layers.size())) ||
        (of_bucket && !in(s.part, t.buckets.size()))) {
      refuse(name);
    }
  }
  for (const TimelineBucket& b : t.buckets) {
    if (!b.ready_s.empty() && b.ready_s.size() != t.devices.size()) refuse(name);
  }
}

// --- both directions --------------------------------------------------------------------------

// Enums without EnumNames.
template <typename Value>
inline constexpr auto kNamedValues = nullptr;
template <>
inline constexpr auto kNamedValues<TransferMover> =
    std::array{TransferMover::Threads, TransferMover::CopyEngine, TransferMover::Kernel};
template <>
inline constexpr auto kNamedValues<PeerMode> =
    std::array{PeerMode::None, PeerMode::Write, PeerMode::Read, PeerMode::WriteThroughHost,
               PeerMode::ReadThroughHost};
template <>
inline constexpr auto kNamedValues<TimelineLane> = kTimelineLanes;
template <>
inline constexpr auto kNamedValues<StepPhase> = kStepPhases;

template <typename Value>
inline constexpr bool kIsNamed = !std::is_null_pointer_v<decltype(kNamedValues<Value>)>;

class Writer {
 public:
  template <typename Value>
  void operator()(const char* name, const Value& value) {
    json[name] = written(value);
  }

  template <typename Value>
  static Json written(const Value& value) {
    if constexpr (kIsNamed<Value>) {
      return to_string(value);
    } else if constexpr (requires { json_of(value); }) {
      return json_of(value);
    } else {
      Writer writer;
      Value copy = value;  // members() serves both directions
      members(writer, copy);
      return std::move(writer.json);
    }
  }
  template <typename Value>
  static Json written(const std::vector<Value>& values) {
    Json list = Json::array();
    for (const Value& value : values) list.push_back(written(value));
    return list;
  }
  template <typename Value>
  static Json written(const std::optional<Value>& value) {
    return value ? written(*value) : Json(nullptr);
  }

  Json json = Json::object();
};

// Throws Error(Corrupt) for a member that is missing or not valid.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  template <typename Value>
  void operator()(const char* name, Value& value) {
    const auto found = json_.is_object() ? json_.find(name) : json_.end();
    if (!json_.is_object() || found == json_.end()) refuse(name);
    read(name, *found, value);
  }

 private:
  template <typename Value>
  static void read(const char* name, const Json& json, Value& value) {
    if constexpr (kIsNamed<Value>) {
      const auto& all = kNamedValues<Value>;
      const auto found = std::ranges::find_if(all, [&](Value v) { return json == to_string(v); });
      if (found == all.end()) refuse(name);
      value = *found;
    } else if constexpr (requires { read_json(json, value); }) {
      if (!read_json(json, value)) refuse(name);
    } else {
      Reader reader(json);
      members(reader, value);
      check(name, value);
    }
  }
  template <typename Value>
  static void read(const char* name, const Json& json, std::vector<Value>& values) {
    if (!json.is_array()) refuse(name);
    values.clear();
    for (const Json& item : json) read(name, item, values.emplace_back());
  }
  template <typename Value>
  static void read(const char* name, const Json& json, std::optional<Value>& value) {
    value.reset();
    if (!json.is_null()) read(name, json, value.emplace());
  }

  const Json& json_;
};

template <typename Value>
Value read_member(const Json& json, const char* name) {
  Value value{};
  Reader reader(json);
  reader(name, value);
  return value;
}

const Json& object_at(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_object()) refuse(name);
  return *found;
}

// Unlike Writer's lists, of values that are not stored together.
template <typename Value>
Json& add_to(Json& list, const Value& value) {
  list.push_back(Writer::written(value));
  return list;
}

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
      const ui::LanedStep* const step = results.step(mode, point.devices);
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
  json["others_share"] = results.others;
  json["points"] = std::move(points);
  json["predictions"] = std::move(predictions);
  json["steps"] = std::move(steps);
}

void read_into(const Json& json, ui::ScalingResults& results) {
  read_request(object_at(json, "measured_with"), results.measured_with);
  results.others = read_member<double>(json, "others_share");
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

const DeviceInfo* info_of(const MachineInfo& machine, Device device) {
  const auto found = std::ranges::find(machine.devices, device, &DeviceInfo::device);
  return found == machine.devices.end() ? nullptr : &*found;
}

template <typename Results>
std::vector<KnownDevice> known_devices(const Results& results, const MachineInfo& machine) {
  std::vector<KnownDevice> known;
  for (const Device device : devices_in(results)) {
    const DeviceInfo* const info = info_of(machine, device);
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
    const DeviceInfo* const info = info_of(machine, device);
    return was != known.end() && info != nullptr && was->name == info->name &&
           was->threads == info->threads;
  });
}

template <typename Results>
Json results_json(const Results& results, const MachineInfo& machine) {
  Json json{{"request", request_json(results.request)},
            {"measured", static_cast<std::int64_t>(results.measured_at)},
            {"devices", Writer::written(known_devices(results, machine))},
            {"skipped", Writer::written(results.skipped)}};
  add_results(json, results);
  return json;
}

template <typename Results>
Results results_in(const Json& json, const MachineInfo& machine, bool& other_devices) {
  Results results;
  if (json.is_null()) return results;
  if (!json.is_object()) refuse("runs");
  read_request(object_at(json, "request"), results.request);
  results.measured_at = static_cast<std::time_t>(read_member<std::int64_t>(json, "measured"));
  results.earlier = true;
  results.skipped = read_member<std::vector<Skipped>>(json, "skipped");
  read_into(json, results);
  if (same_devices(results, read_member<std::vector<KnownDevice>>(json, "devices"), machine)) {
    return results;
  }
  other_devices = true;
  return {};
}

constexpr std::array kKeptKinds = {std::pair("sweep", ui::RunKind::Sweep),
                                   std::pair("together", ui::RunKind::Together)};

// How the page's last run ended, unless it failed or was live.
template <typename Results>
Json ended_json(const ui::KeptRuns<Results>& runs, const ui::PageState& state) {
  const bool kept = runs.last() != ui::RunKind::Live && state.phase == ui::Phase::Done;
  if (!kept || runs.of(runs.last()).current.empty()) return nullptr;
  return {{"cancelled", state.cancelled}, {"seconds", state.seconds}, {"others", state.others}};
}

template <typename Results>
void read_ended(const Json& json, StoredResults<Results>& kept) {
  const Results& last = kept.runs.of(kept.runs.last()).current;
  if (json.is_null() || last.empty() || kept.other_devices) return;
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
      kept.runs.restore(
          kind, results_in<Results>(run.value("current", Json()), machine, kept.other_devices),
          results_in<Results>(run.value("replaced", Json()), machine, kept.other_devices));
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
  files::write_file(file, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

template StoredResults<ui::TransferResults> read_results(const fs::path&, const MachineInfo&);
template StoredResults<ui::MatmulResults> read_results(const fs::path&, const MachineInfo&);
template StoredResults<ui::ScalingResults> read_results(const fs::path&, const MachineInfo&);
template void write_results(const fs::path&, const ui::KeptRuns<ui::TransferResults>&,
                            const ui::PageState&, const MachineInfo&);
template void write_results(const fs::path&, const ui::KeptRuns<ui::MatmulResults>&,
                            const ui::PageState&, const MachineInfo&);
template void write_results(const fs::path&, const ui::KeptRuns<ui::ScalingResults>&,
                            const ui::PageState&, const MachineInfo&);

}  // namespace lab::app
