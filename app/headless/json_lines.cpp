#include "app/headless/json_lines.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "app/headless/gpu_report.h"
#include "app/headless/lesson_json.h"
#include "app/headless/transfer_json.h"
#include "compute/core/events/roofline.h"
#include "compute/core/fields/field_json.h"
#include "compute/core/fields/request_fields.h"

namespace lab::app {
namespace {

using Json = nlohmann::ordered_json;

// Replaces bytes that are not UTF-8 (in a file name, for example) instead of failing the run.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename T>
Json number(const Maybe<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json device_names(const std::vector<Device>& devices) {
  Json list = Json::array();
  for (const Device d : devices) list.push_back(to_string(d));
  return list;
}

// Makes the values null, with the reason that an emulated GPU gives.
void withhold(Json& json, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    json[key] = nullptr;
    json["missing"][key] = tr(kNeverTimed);
  }
}

void add_timing(Json& json, const Timing& time) {
  json["median_s"] = time.median_s;
  json["p10_s"] = time.p10_s;
  json["p90_s"] = time.p90_s;
}

void add_clock(Json& json, const Conditions& conditions) {
  json["clock_mhz"] = number(conditions.clock_mhz);
  if (conditions.clock_nominal) json["clock_nominal"] = true;
}

// `n` is the repetitions of a transfer but a dimension of a matmul, so both report `samples`.
void add_repetitions(Json& json, const Timing& time) {
  json["samples"] = time.n;
  json["warmup"] = time.warmup;
  json["unstable"] = time.unstable;
}

void add_split(Json& json, const StepSplit& split) {
  json["compute_s"] = split.compute_s;
  json["all_reduce_s"] = split.all_reduce_s;
  json["exposed_s"] = split.exposed_s;
  json["imbalance_s"] = split.imbalance_s;
}

Json device_step_json(const DeviceStep& e, bool timed) {
  Json json{
      {"rank", e.rank},           {"device", to_string(e.device)},  {"images", e.images},
      {"compute_s", e.compute_s}, {"all_reduce_s", e.all_reduce_s}, {"exposed_s", e.exposed_s},
      {"wait_s", e.wait_s}};
  if (!timed) withhold(json, {"compute_s", "all_reduce_s", "exposed_s", "wait_s"});
  return json;
}

// Values of a complete grid, as nested lists that match the tensor's shape.
Json nested(const TensorInfo& x, const ValueGrid& grid, std::size_t dimension = 0,
            std::size_t first = 0) {
  if (dimension == x.shape.size()) {
    const double value = grid.values[first];
    return grid.integral ? Json(static_cast<std::int64_t>(value)) : Json(value);
  }
  std::size_t stride = 1;
  for (std::size_t d = dimension + 1; d < x.shape.size(); ++d) {
    stride *= static_cast<std::size_t>(x.shape[d]);
  }
  Json list = Json::array();
  for (std::int64_t i = 0; i < x.shape[dimension]; ++i) {
    list.push_back(nested(x, grid, dimension + 1, first + static_cast<std::size_t>(i) * stride));
  }
  return list;
}

struct ToJson {
  using Result = std::optional<Json>;
  const bool timed = true;

  Result operator()(const Progress& e) const {
    return Json{
        {"type", "progress"}, {"done", e.done}, {"what", e.what}, {"left_s", number(e.left_s)}};
  }
  Result operator()(const Skipped& e) const {
    return Json{{"type", "skip"}, {"what", e.what}, {"reason", e.reason}};
  }
  Result operator()(const RungFailed& e) const {
    return Json{{"type", "fail"},
                {"device", to_string(e.device)},
                {"kernel", e.kernel},
                {"dtype", to_string(e.dtype)},
                {"n", e.n},
                {"reason", e.reason},
                {"max_error", number(e.max_error)}};
  }
  Result operator()(const MatmulSample& e) const {
    Json json{{"type", "sample"},
              {"device", to_string(e.device)},
              {"kernel", e.kernel},
              {"dtype", to_string(e.dtype)},
              {"m", e.m},
              {"n", e.n},
              {"k", e.k}};
    add_timing(json, e.time);
    json["gflops"] = e.gflops;
    json["verified"] = e.verified;
    json["share_of_library"] = number(e.share_of_library);
    json["share_of_peak"] = number(e.share_of_peak);
    json["library"] = e.library;
    add_repetitions(json, e.time);
    json["max_error"] = e.max_error;
    json["intensity"] = arithmetic_intensity(e);
    add_clock(json, e.conditions);
    return json;
  }
  Result operator()(const TogetherSample& e) const {
    Json json{{"type", "sample"},
              {"device", to_string(e.device)},
              {"together", device_names(e.together)},
              {"dtype", to_string(Precision::F32)},
              {"m", e.n},
              {"n", e.n},
              {"k", e.n}};
    add_timing(json, e.time);
    json["gflops"] = e.gflops;
    json["verified"] = e.verified;
    add_repetitions(json, e.time);
    return json;
  }
  Result operator()(const TransferSample& e) const {
    Json json{{"type", "sample"},
              {"from", to_string(e.from)},
              {"to", to_string(e.to)},
              {"memory", to_string(e.memory)},
              {"bytes", e.bytes}};
    add_timing(json, e.time);
    json["n"] = e.time.n;
    json["gb_per_s"] = e.gb_per_s;
    json["verified"] = e.verified;
    json["op"] = to_string(e.op);
    json["threads"] = e.threads;
    add_way(json, e.mover, e.peer);
    add_repetitions(json, e.time);
    add_clock(json, e.conditions);
    return json;
  }
  Result operator()(const StepDone& e) const {
    Json json{{"type", "step"}, {"step", e.step},         {"epoch", e.epoch},
              {"loss", e.loss}, {"images", e.images},     {"images_per_s", e.images_per_s},
              {"t_s", e.t_s},   {"accuracy", e.accuracy}, {"lr", e.lr}};
    for (const DeviceStep& device : e.devices) {
      json["devices"].push_back(device_step_json(device, timed));
    }
    if (!timed) withhold(json, {"images_per_s"});
    return json;
  }
  Result operator()(const EpochDone& e) const {
    Json json{{"type", "epoch"},
              {"epoch", e.epoch},
              {"train_loss", e.train_loss},
              {"train_acc", e.train_acc},
              {"test_acc", number(e.test_acc)},
              {"seconds", e.seconds},
              {"images_per_s", e.images_per_s}};
    if (!timed) withhold(json, {"images_per_s"});
    return json;
  }
  Result operator()(const ScalingPoint& e) const {
    Json json{{"type", "sample"},
              {"predicted", false},
              {"mode", to_string(e.mode)},
              {"devices", e.devices},
              {"batch", e.batch}};
    add_timing(json, e.step);
    add_repetitions(json, e.step);
    json["images_per_s"] = e.images_per_s;
    json["speedup"] = e.speedup;
    json["efficiency"] = e.efficiency;
    add_split(json, e.split);
    json["hidden_share"] = e.devices > 1 ? Json(e.hidden_share) : Json(nullptr);
    json["test_acc"] = number(e.test_acc);
    json["accuracy_steps"] = e.accuracy_steps;
    json["shares_cores"] = e.shares_cores;
    add_clock(json, e.conditions);
    return json;
  }
  Result operator()(const ScalingPrediction& e) const {
    Json json{{"type", "sample"},     {"predicted", true},         {"mode", to_string(e.mode)},
              {"devices", e.devices}, {"batch", e.batch},          {"link", e.link},
              {"basis", e.basis},     {"step_s", e.step_s},        {"images_per_s", e.images_per_s},
              {"speedup", e.speedup}, {"efficiency", e.efficiency}};
    add_split(json, e.split);
    json["process_s"] = e.process_s;
    json["fixed_s"] = e.fixed_s;
    if (!e.withheld.empty()) {
      for (const auto& [key, value] : json.items()) {
        if (value.is_number_float()) json[key] = nullptr;
      }
      json["withheld"] = e.withheld;
    }
    json["measured_step_s"] = number(e.measured_step_s);
    return json;
  }
  Result operator()(const TensorResult& e) const {
    Json json{{"type", "tensor"}, {"statement", e.statement}};
    if (!e.answer.empty()) json["answer"] = e.answer;
    if (!e.tensor) return json;
    const TensorInfo& x = *e.tensor;
    json["name"] = x.name.empty() ? Json(nullptr) : Json(x.name);
    json["device"] = to_string(x.device);
    json["shape"] = x.shape;
    json["dtype"] = to_string(x.dtype);
    json["bytes"] = x.bytes;
    json["values"] = e.grid.values.empty() ? Json::array()
                     : e.grid.complete()   ? nested(x, e.grid)
                                           : Json(nullptr);
    json["preview"] = x.preview;
    json["id"] = x.id;
    json["aliases"] = e.aliases;
    json["copy_s"] = number(e.copy_s);
    return json;
  }
  Result operator()(const LessonEvent& e) const { return lesson_json(e); }
  // Figures that are still being measured are left out.
  Result operator()(const TourFigure& e) const {
    if (!e.complete) return {};
    const bool known = e.missing.empty();
    Json json{{"type", "figure"},
              {"device", to_string(e.device)},
              {"question", to_string(e.question)},
              {"unit", unit_of(e.question)},
              {"value", known ? Json(e.value) : Json(nullptr)}};
    if (!known) {
      json["reason"] = e.missing;
      return json;
    }
    json["median"] = e.median;
    json["p10"] = e.low;
    json["p90"] = e.high;
    json["n"] = e.n;
    json["unstable"] = e.unstable;
    if (e.threads > 0) json["threads"] = e.threads;
    if (e.plain_share) json["plain_share"] = *e.plain_share;
    if (e.best_share) json["best_share"] = *e.best_share;
    if (e.share_unsteady) json["share_unsteady"] = true;
    if (e.all_threads_s) json["all_threads_s"] = *e.all_threads_s;
    return json;
  }
  template <typename ForTheWindow>
  Result operator()(const ForTheWindow&) const {
    return {};
  }
};

Json peak_json(const PeakSample& e) {
  Json json{{"device", to_string(e.device)}, {"dtype", to_string(e.dtype)}};
  if (e.threads > 0) json["threads"] = e.threads;
  if (e.amx) json["amx"] = true;
  add_timing(json, e.time);
  json["gflops"] = e.gflops;
  add_repetitions(json, e.time);
  return json;
}

Json ceilings_json(const CeilingsMeasured& e) {
  Json json{{"device", to_string(e.device)}};
  if (e.threads > 0) json["threads"] = e.threads;
  json["compute"] = Json::array();
  for (const ComputeCeiling& c : e.compute) {
    Json& one = json["compute"].emplace_back(
        Json{{"name", c.name}, {"dtype", to_string(c.dtype)}, {"gflops", c.gflops}});
    if (c.threads > 0) one["threads"] = c.threads;
    add_timing(one, c.time);
    add_repetitions(one, c.time);
  }
  json["bandwidth"] = Json::array();
  for (const BandwidthCeiling& b : e.bandwidth) {
    Json& one = json["bandwidth"].emplace_back(Json{{"name", b.name},
                                                    {"cache_bytes", b.cache_bytes},
                                                    {"working_set_bytes", b.working_set_bytes},
                                                    {"gb_per_s", b.gb_per_s},
                                                    {"median_gb_per_s", b.median_gb_per_s},
                                                    {"p10_gb_per_s", b.p10_gb_per_s},
                                                    {"p90_gb_per_s", b.p90_gb_per_s}});
    if (b.copied) one["copied"] = true;
    add_timing(one, b.time);
    add_repetitions(one, b.time);
  }
  return json;
}

Json speedup_json(const TogetherSpeedup& e) {
  return {{"devices", device_names(e.devices)},
          {"n", e.n},
          {"products", e.products},
          {"rounds", e.rounds},
          {"in_sequence_s", e.in_sequence_s},
          {"at_once_s", e.at_once_s},
          {"speedup", e.speedup},
          {"p10", e.p10},
          {"p90", e.p90},
          {"shares_cores", e.shares_cores}};
}

void add_training(Json& json, const TrainingDone& training, bool timed) {
  json["test_acc"] = number(training.test_acc);
  if (training.reached_s) json["reached_s"] = *training.reached_s;
  json["images_per_s"] = training.images_per_s;
  json["devices"] = device_names(training.devices);
  if (!training.idle_devices.empty()) {
    json["idle_devices"] = device_names(training.idle_devices);
  }
  json["steps"] = training.steps;
  json["training_seconds"] = training.seconds;
  json["ranks"] = training.ranks;
  if (training.devices.size() > 1) {
    Json split = Json::object();
    add_split(split, training.split);
    if (!timed) withhold(split, {"compute_s", "all_reduce_s", "exposed_s", "imbalance_s"});
    json["split"] = std::move(split);
    json["hidden_share"] = training.hidden_share;
    if (!timed) withhold(json, {"hidden_share"});
  }
  if (!timed) withhold(json, {"images_per_s"});
  for (const TrainingChanged& change : training.changes) {
    json["changes"].push_back({{"step", change.step},
                               {"setting", change.setting},
                               {"before", change.before},
                               {"after", change.after}});
  }
  if (!training.checkpoint.empty()) json["checkpoint"] = training.checkpoint;
  if (!training.saved_file.empty()) json["saved_file"] = training.saved_file;
}

// Whole steps only; the rows are reported as separate lines.
Json profile_json(const TrainingProfile& e) {
  Json json{{"device", to_string(e.device)},
            {"images", e.images},
            {"threads", e.threads},
            {"dtype", to_string(e.dtype)},
            {"peak_gflops", e.peak_gflops}};
  for (const ProfileTotal& total : e.totals) {
    Json step{{"kernels", to_string(total.kernels)}};
    step["n"] = total.step.n;
    step["warmup"] = total.step.warmup;
    if (total.step.n > 0) {
      add_timing(step, total.step);
      step["rows_s"] = total.rows.median_s;
      step["unaccounted_s"] = total.unaccounted_s;
      for (const StepPhase phase : kStepPhases) {
        step["shares"][to_string(phase)] = total.share(phase);
      }
    }
    json["steps"].push_back(std::move(step));
  }
  return json;
}

Json profile_row_json(const TrainingProfile& profile, const ProfileRow& row) {
  const bool computes = row.flop > 0;
  Json json{{"type", "sample"},
            {"device", to_string(profile.device)},
            {"layer", row.layer},
            {"kind", row.kind},
            {"shape", row.shape},
            {"pass", to_string(row.phase)},
            {"kernels", to_string(row.kernels)},
            {"method", row.method.empty() ? Json(nullptr) : Json(row.method)}};
  add_timing(json, row.time);
  json["n"] = row.time.n;
  json["warmup"] = row.time.warmup;
  json["flop"] = row.flop;
  json["gflops"] = computes ? Json(row.gflops()) : Json(nullptr);
  json["share_of_peak"] =
      computes && profile.peak_gflops > 0 ? Json(profile.share_of_peak(row)) : Json(nullptr);
  json["bytes"] = row.bytes > 0 ? Json(row.bytes) : Json(nullptr);
  json["intensity"] = row.bytes > 0 ? Json(row.intensity()) : Json(nullptr);
  return json;
}

// Adds the fields that the request declares as reported.
template <typename Request>
void add_reported(Json& json, const Request& request) {
  for_each_field<Request>([&](const RequestField& field, auto member) {
    if (field.reported) json[field.key] = json_of(request.*member);
  });
}

void add_setup(Json& json, const TrainingStarted& e) {
  add_reported(json, e.request);
  json["synthetic"] = e.synthetic;
  json["lr"] = e.lr;
  if (!e.libraries.empty()) json["libraries"] = e.libraries;
  if (e.request.compare_kernels) json["kernels"] = "both";
  const bool listed = e.request.share_policy == SharePolicy::Listed;
  json["shares"] = listed ? Json(e.request.shares) : Json(to_string(e.request.share_policy));
  json["parameters"] = e.parameters;
  json["train_images"] = e.train_images;
  json["test_images"] = e.test_images;
}

void add_comparison(Json& json, const ScalingComparison& e) {
  json["rows"] = std::count_if(e.rows.begin(), e.rows.end(),
                               [](const ComparedScaling& row) { return row.counted; });
  json["median_error"] = e.median_error;
  json["worst_error"] = e.worst_error;
}

void add_scaling(Json& json, const StartScaling& e) {
  json["model"] = e.training.model.empty() ? Json(nullptr) : Json(e.training.model);
  json["data"] = to_string(e.training.data);
  json["batch"] = e.training.batch;
  json["measured"] = e.measure;
  add_reported(json, e);
  if (!e.reference_file.empty()) json["reference_file"] = e.reference_file;
}

Json caches_json(const std::vector<CacheInfo>& caches) {
  Json list = Json::array();
  for (const CacheInfo& c : caches) {
    list.push_back({{"level", c.level},
                    {"size_bytes", c.size_bytes},
                    {"instances", c.instances},
                    {"line_bytes", c.line_bytes}});
  }
  return list;
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json core_kinds_json(const DeviceInfo& info) {
  Json list = Json::array();
  for (const CoreKind& kind : info.core_kinds) {
    Json cores = Json::array();
    for (const int core : kind.cores) cores.push_back(info.cores[static_cast<std::size_t>(core)]);
    list.push_back({{"kind", kind.number},
                    {"name", text_or_null(kind.name)},
                    {"core_type", text_or_null(kind.type)},
                    {"clock_max_mhz", number(kind.clock_max_mhz)},
                    {"clock_base_mhz", number(kind.clock_base_mhz)},
                    {"capacity", kind.capacity ? Json(*kind.capacity) : Json()},
                    {"cores", std::move(cores)}});
  }
  return list;
}

void add_telemetry(Json& json, const DeviceTelemetry& t) {
  json["t_s"] = t.t_s;
  json["utilisation"] = number(t.utilisation);
  json["core_utilisation"] = t.core_utilisation;
  json["clock_mhz"] = number(t.clock_mhz);
  json["temperature_c"] = number(t.temperature_c);
  json["memory_available_bytes"] = number(t.memory_available_bytes);
  json["lab_used_bytes"] = t.lab_used_bytes;
  json["lab_peak_bytes"] = t.lab_peak_bytes;
  if (is_gpu(t.device)) {
    json["lab_pinned_bytes"] = t.lab_pinned_bytes;
    json["lab_workspace_bytes"] = t.lab_workspace_bytes;
    json["lab_pool_bytes"] = t.lab_pool_bytes;
  }
  if (!t.lost.empty()) json["lost"] = t.lost;
  Json reasons = Json::object();
  if (!t.utilisation) reasons["utilisation"] = t.utilisation.reason();
  if (!t.clock_mhz) reasons["clock_mhz"] = t.clock_mhz.reason();
  if (!t.temperature_c) reasons["temperature_c"] = t.temperature_c.reason();
  if (!t.memory_available_bytes) {
    reasons["memory_available_bytes"] = t.memory_available_bytes.reason();
  }
  json["missing"] = std::move(reasons);
}

}  // namespace

std::optional<std::string> json_line(const Payload& payload, bool timed) {
  const auto json = std::visit(ToJson{timed}, payload);
  if (!json) return {};
  return dump(*json);
}

std::vector<std::string> json_profile(const TrainingProfile& profile) {
  std::vector<std::string> lines;
  for (const ProfileRow& row : profile.rows) {
    if (row.time.n > 0) lines.push_back(dump(profile_row_json(profile, row)));
  }
  return lines;
}

std::vector<std::string> json_comparison(const ScalingComparison& comparison) {
  std::vector<std::string> lines;
  for (const ComparedScaling& e : comparison.rows) {
    lines.push_back(dump({{"type", "comparison"},
                          {"system", e.system},
                          {"style", to_string(e.style)},
                          {"link", e.link},
                          {"devices", e.devices},
                          {"batch", e.batch},
                          {"one_device_images_per_s", e.one_device_images_per_s},
                          {"published_images_per_s", e.published_images_per_s},
                          {"predicted_images_per_s", e.predicted_images_per_s},
                          {"error", e.error()},
                          {"counted", e.counted},
                          {"source", e.source}}));
  }
  return lines;
}

std::string json_device(const DeviceInfo& info, const DeviceTelemetry* telemetry,
                        const GpuRefs& gpu) {
  Json json{{"type", "device"},
            {"device", to_string(info.device)},
            {"name", info.name},
            {"simd", info.simd},
            {"simd_detail", info.simd_detail},
            {"simd_cap", text_or_null(info.simd_cap)},
            {"cores", info.cores},
            {"core_kinds", core_kinds_json(info)},
            {"threads", info.threads},
            {"packages", info.packages},
            {"numa_nodes", info.numa_nodes},
            {"caches", caches_json(info.caches)},
            {"clock_max_mhz", number(info.clock_max_mhz)},
            {"memory_total_bytes", info.memory_total_bytes},
            {"memory_limit_bytes", info.memory_limit_bytes}};
  if (!is_timed(info.device)) json["emulated"] = true;
  if (info.virtual_machine) json["clock_nominal"] = true;
  Json details = Json::object();
  for (const auto& [label, value] : info.details) details[label] = value;
  json["details"] = std::move(details);
  if (telemetry != nullptr) add_telemetry(json, *telemetry);
  if (gpu.facts != nullptr) json["gpu"] = gpu_json(*gpu.facts, gpu.reading);
  return dump(json);
}

std::string json_skip(const std::string& what, const std::string& reason, const GpuRefs& gpu) {
  Json json{{"type", "skip"}, {"what", what}, {"reason", reason}};
  if (gpu.facts != nullptr) json["gpu"] = gpu_json(*gpu.facts, gpu.reading);
  return dump(json);
}

void JobSummary::add(const Payload& payload) {
  if (const auto* peak = std::get_if<PeakSample>(&payload)) peaks.push_back(*peak);
  if (const auto* found = std::get_if<CeilingsMeasured>(&payload)) ceilings.push_back(*found);
  if (const auto* one = std::get_if<TogetherSpeedup>(&payload)) speedups.push_back(*one);
  if (const auto* fit = std::get_if<TransferFit>(&payload)) fits.push_back(*fit);
  if (const auto* rows = std::get_if<TransferTimeline>(&payload)) timelines.push_back(*rows);
  if (const auto* payoff = std::get_if<TransferPayoff>(&payload)) payoffs.push_back(*payoff);
  if (const auto* cores = std::get_if<CoresShared>(&payload)) others = cores->others;
  if (const auto* started = std::get_if<TrainingStarted>(&payload)) setup = *started;
  if (const auto* done = std::get_if<TrainingDone>(&payload)) training = *done;
  if (const auto* layers = std::get_if<TrainingProfile>(&payload)) profile = *layers;
  if (const auto* job = std::get_if<JobStarted>(&payload)) {
    if (const auto* request = std::get_if<StartMatmul>(&job->command)) matmul = *request;
    if (const auto* request = std::get_if<StartTransfers>(&job->command)) transfers = *request;
    if (const auto* request = std::get_if<StartScaling>(&job->command)) scaling = *request;
  }
  if (const auto* found = std::get_if<ScalingComparison>(&payload)) comparison = *found;
}

bool JobSummary::timed() const {
  return !setup || std::ranges::all_of(setup->request.devices, is_timed);
}

std::string json_done(double seconds, const JobSummary& summary) {
  Json json{{"type", "done"}, {"seconds", seconds}};
  if (summary.others) json["others_share"] = *summary.others;
  if (summary.matmul) {
    json["budget_s"] = summary.matmul->budget_s;
    if (!summary.matmul->together) {
      json["cache"] = to_string(summary.matmul->cache);
      json["seed"] = summary.matmul->seed;
    }
  }
  if (summary.transfers) {
    json["cache"] = to_string(summary.transfers->cache);
    if (!summary.transfers->quick) json["budget_s"] = summary.transfers->budget_s;
  }
  if (summary.training) add_training(json, *summary.training, summary.timed());
  if (summary.setup) add_setup(json, *summary.setup);
  if (summary.profile) json["profile"] = profile_json(*summary.profile);
  if (summary.scaling && !summary.scaling->check) add_scaling(json, *summary.scaling);
  if (summary.comparison) add_comparison(json, *summary.comparison);
  for (const PeakSample& peak : summary.peaks) json["peaks"].push_back(peak_json(peak));
  for (const CeilingsMeasured& e : summary.ceilings) json["ceilings"].push_back(ceilings_json(e));
  for (const TogetherSpeedup& e : summary.speedups) json["together"].push_back(speedup_json(e));
  for (const TransferFit& fit : summary.fits) json["fits"].push_back(fit_json(fit));
  for (const TransferTimeline& e : summary.timelines) json["timelines"].push_back(timeline_json(e));
  for (const TransferPayoff& e : summary.payoffs) json["payoffs"].push_back(payoff_json(e));
  return dump(json);
}

std::string json_error(const std::string& code, const std::string& message) {
  return dump(Json{{"type", "error"}, {"code", code}, {"message", message}});
}

}  // namespace lab::app
