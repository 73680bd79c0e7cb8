#include "compute/core/events/step_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "compute/core/language.h"

namespace lab {
namespace {

using Json = nlohmann::json;

constexpr int kMicro = 1'000'000;

double micros(double seconds) {
  return std::round(seconds * kMicro * 1000) / 1000;  // to the nanosecond
}

Json event(const char* kind, int process, int thread, const std::string& name) {
  return {{"ph", kind}, {"pid", process}, {"tid", thread}, {"name", name}};
}

Json metadata(const char* what, int process, int thread, Json args) {
  Json json = event("M", process, thread, what);
  json["args"] = std::move(args);
  return json;
}

// Names and orders the processes and their threads as the devices and their streams.
void add_names(const StepTimeline& timeline, Json& events) {
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    const int process = static_cast<int>(d);
    events.push_back(
        metadata("process_name", process, 0, {{"name", to_string(timeline.devices[d].device)}}));
    events.push_back(metadata("process_sort_index", process, 0, {{"sort_index", process}}));
    for (const TimelineLane lane : kTimelineLanes) {
      const int thread = static_cast<int>(lane);
      events.push_back(metadata("thread_name", process, thread, {{"name", to_string(lane)}}));
      events.push_back(metadata("thread_sort_index", process, thread, {{"sort_index", thread}}));
    }
  }
}

Json arguments(const StepTimeline& timeline, const TimelineSpan& span) {
  Json args{{"step", timeline.step}};
  if (span.bytes > 0) args["bytes"] = span.bytes;
  if (span.flop > 0) {
    args["flop"] = span.flop;
    if (timeline.timed) args["gflops"] = span.gflops();
  }
  if (span.phase == StepPhase::Forward || span.phase == StepPhase::Backward) {
    const TimelineLayer& layer = timeline.layers[static_cast<std::size_t>(span.part)];
    args["kind"] = layer.kind;
    if (!layer.shape.empty()) args["shape"] = layer.shape;
  }
  return args;
}

// The whole step, which contains the layers of each device.
void add_steps(const StepTimeline& timeline, Json& events) {
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    Json json = event("X", static_cast<int>(d), static_cast<int>(TimelineLane::Compute),
                      fmt::format("step {}", timeline.step));
    json["cat"] = "step";
    json["ts"] = micros(timeline.start_s);
    json["dur"] = micros(timeline.start_s + timeline.seconds) - micros(timeline.start_s);
    json["args"] = {{"model", timeline.model},
                    {"images", timeline.devices[d].images},
                    {"timed", timeline.timed}};
    if (std::isfinite(timeline.loss)) json["args"]["loss"] = timeline.loss;
    events.push_back(std::move(json));
  }
}

void add_spans(const StepTimeline& timeline, Json& events) {
  for (const TimelineSpan& span : timeline.spans) {
    Json json = event("X", span.device, static_cast<int>(span.lane), name_of(timeline, span));
    json["cat"] = to_string(span.phase);
    // The end is rounded, not the duration, so that spans nest after rounding too.
    const double begin = micros(timeline.start_s + span.begin_s);
    json["ts"] = begin;
    json["dur"] = std::max(0.0, micros(timeline.start_s + span.end_s) - begin);
    json["args"] = arguments(timeline, span);
    events.push_back(std::move(json));
  }
}

// Buckets in flight overlap, which complete events of one thread must not.
void add_buckets(const StepTimeline& timeline, Json& events) {
  for (std::size_t b = 0; b < timeline.buckets.size(); ++b) {
    const TimelineBucket& bucket = timeline.buckets[b];
    if (bucket.done_s <= 0) continue;
    for (std::size_t d = 0; d < bucket.ready_s.size(); ++d) {
      if (bucket.ready_s[d] <= 0) continue;
      const std::string id = fmt::format("{}.{}.{}", timeline.step, d, b);
      for (const bool begins : {true, false}) {
        Json json = event(begins ? "b" : "e", static_cast<int>(d),
                          static_cast<int>(TimelineLane::Sums), fmt::format("bucket {}", b + 1));
        json["cat"] = "bucket in flight";
        json["id"] = id;
        json["ts"] = micros(timeline.start_s + (begins ? bucket.ready_s[d] : bucket.done_s));
        if (begins) json["args"] = {{"bytes", bucket.bytes}};
        events.push_back(std::move(json));
      }
    }
  }
}

double last_backward(const StepTimeline& timeline) {
  double end_s = 0;
  for (const TimelineSpan& span : timeline.spans) {
    if (span.phase == StepPhase::Backward) end_s = std::max(end_s, span.end_s);
  }
  return end_s;
}

}  // namespace

const char* to_string(TimelineLane lane) {
  switch (lane) {
    case TimelineLane::Compute: return LAB_TEXT("compute");
    case TimelineLane::Sums: return LAB_TEXT("all-reduce");
    case TimelineLane::Copies: return LAB_TEXT("copies");
  }
  return "";
}

std::string name_of(const StepTimeline& timeline, const TimelineSpan& span) {
  switch (span.phase) {
    case StepPhase::Batch: return tr("batch");
    case StepPhase::Loss: return tr("loss");
    case StepPhase::Update: return tr("update");
    case StepPhase::AllReduce:
      return span.part < 0 ? std::string(tr("all-reduce after backward"))
                           : trf("bucket {} of {}", span.part + 1, timeline.buckets.size());
    case StepPhase::Forward:
    case StepPhase::Backward: break;
  }
  const TimelineLayer& layer = timeline.layers[static_cast<std::size_t>(span.part)];
  const std::string name = ProfileRow{.layer = layer.name, .kind = layer.kind}.title();
  return span.phase == StepPhase::Forward ? trf("{}, forward", name) : trf("{}, backward", name);
}

double overlapped_share(const StepTimeline& timeline) {
  double first_s = std::numeric_limits<double>::infinity(), done_s = 0;
  for (const TimelineBucket& bucket : timeline.buckets) {
    if (bucket.done_s <= 0) continue;
    first_s = std::min(first_s, *std::max_element(bucket.ready_s.begin(), bucket.ready_s.end()));
    done_s = std::max(done_s, bucket.done_s);
  }
  if (timeline.devices.size() < 2 || done_s <= first_s) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return std::clamp((last_backward(timeline) - first_s) / (done_s - first_s), 0.0, 1.0);
}

std::string chrome_trace(const std::vector<StepTimeline>& steps,
                         const std::vector<LossPoint>& losses) {
  Json events = Json::array();
  if (!steps.empty()) add_names(steps.front(), events);
  for (const StepTimeline& timeline : steps) {
    add_steps(timeline, events);
    add_spans(timeline, events);
    add_buckets(timeline, events);
  }
  for (const LossPoint& point : losses) {
    if (!std::isfinite(point.loss)) continue;
    Json json = event("C", 0, 0, "loss");
    json["ts"] = micros(point.t_s);
    json["args"] = {{"loss", point.loss}};
    events.push_back(std::move(json));
  }
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump();
}

}  // namespace lab
