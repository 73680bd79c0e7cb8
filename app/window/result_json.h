#pragma once
// Results of jobs as JSON that this program reads again: one list of members per type, for both
// directions. For result_files.cpp only.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/core/error.h"
#include "compute/core/events/event.h"
#include "compute/core/fields/field_json.h"
#include "compute/core/language.h"
#include "ui/model/transfer_results.h"

namespace lab::app::kept {

using Json = FieldJson;

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

[[noreturn]] inline void refuse(const char* name) {
  throw Error(Errc::Corrupt, trf("the field \"{}\" is missing or not valid", name));
}

template <typename Value>
inline void check(const char*, const Value&) {}

inline void check(const char* name, const Timing& t) {
  const bool ascending = t.p10_s >= 0 && t.p10_s <= t.median_s && t.median_s <= t.p90_s;
  if (!ascending || t.n < 0) refuse(name);
}

inline void check(const char* name, const MatmulSample& s) {
  if (s.n <= 0 || s.m <= 0 || s.k <= 0) refuse(name);
}

inline void check(const char* name, const ui::MeasuredTransfer& s) {
  if (s.bytes <= 0 || s.threads <= 0) refuse(name);
}

inline void check(const char* name, const ScalingPoint& p) {
  if (p.devices <= 0 || p.batch <= 0) refuse(name);
}

// A prediction that was withheld is kept without a device count.
inline void check(const char* name, const ScalingPrediction& p) {
  if (p.devices < (p.withheld.empty() ? 1 : 0)) refuse(name);
}

inline void check(const char* name, const StepTimeline& t) {
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

inline const Json& object_at(const Json& json, const char* name) {
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

}  // namespace lab::app::kept
