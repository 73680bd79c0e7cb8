#include "app/headless/gpu_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/core/events/gpu_readings.h"
#include "compute/core/events/gpu_text.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab::app {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const PcieLink& link) {
  return {{"generation", link.generation}, {"width", link.width}};
}
Json as_json(const NvLinks& n) {
  return {{"links", n.links}, {"active", n.active}, {"version", n.version}};
}
Json as_json(const PowerLimits& p) {
  return {{"default_w", p.default_w}, {"min_w", p.min_w}, {"max_w", p.max_w}};
}
Json as_json(const EccErrors& e) {
  return {{"corrected", e.corrected}, {"uncorrected", e.uncorrected}};
}
Json as_json(const PeerAccess& a) {
  Json json{{"possible", a.possible}};
  if (!a.possible) json["why_not"] = a.why_not;
  return json;
}
Json as_json(const GpuProcess& p);
template <typename T>
Json as_json(const T& value) {
  return value;
}
template <typename T>
Json as_json(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(as_json(value));
  return list;
}

// A JSON object with the reasons for its missing values.
class Fields {
 public:
  template <typename T>
  void add(const char* key, const Maybe<T>& value) {
    json_[key] = value ? as_json(*value) : Json(nullptr);
    if (!value) missing_[key] = value.reason();
  }
  Json& json() { return json_; }
  Json take() {
    if (!missing_.empty()) json_["missing"] = std::move(missing_);
    return std::move(json_);
  }

 private:
  Json json_ = Json::object(), missing_ = Json::object();
};

Json as_json(const GpuProcess& p) {
  Fields fields;
  fields.json()["pid"] = p.pid;
  fields.add("name", p.name);
  fields.json()["type"] = process_type(p);
  fields.add("memory_bytes", p.memory_bytes);
  fields.add("utilisation", p.utilisation);
  fields.add("encoder_utilisation", p.encoder_utilisation);
  fields.add("decoder_utilisation", p.decoder_utilisation);
  fields.add("gpu_instance", p.gpu_instance);
  fields.add("compute_instance", p.compute_instance);
  return fields.take();
}

void add_facts(Fields& to, const GpuFacts& facts) {
  to.json()["pci_bus_id"] = facts.pci_bus_id;
  to.json()["name"] = facts.name;
  for_each_gpu_fact([&](auto member, const char* key, const auto&) { to.add(key, facts.*member); });
  Json peers = Json::array();
  for (const GpuPeer& peer : facts.peers) {
    Fields one;
    one.json()["pci_bus_id"] = peer.pci_bus_id;
    one.add("read", peer.read);
    one.add("write", peer.write);
    one.add("nvlink", peer.nvlink);
    peers.push_back(one.take());
  }
  to.json()["peers"] = std::move(peers);
}

void add_reading(Fields& to, const GpuTelemetry& reading) {
  to.json()["asleep"] = reading.asleep;
  for_each_gpu_reading(
      [&](auto member, const char* key, const auto&) { to.add(key, reading.*member); });
}

template <typename Gpu>
auto find_gpu(const std::vector<Gpu>& gpus, const std::string& pci_bus_id) {
  return std::find_if(gpus.begin(), gpus.end(),
                      [&](const Gpu& c) { return c.pci_bus_id == pci_bus_id; });
}

std::string or_reason(const Maybe<std::string>& value) {
  return value ? *value : "N/A (" + tr(value.reason()) + ")";
}

std::string or_na(const Maybe<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "N/A";
}

std::string access_word(const Maybe<PeerAccess>& access) {
  if (!access) return "N/A (" + tr(access.reason()) + ")";
  return access->possible ? tr("yes") : trf("no ({})", access->why_not);
}

}  // namespace

Json gpu_json(const GpuFacts& facts, const GpuTelemetry* reading) {
  Fields fields;
  add_facts(fields, facts);
  if (reading != nullptr) add_reading(fields, *reading);
  return fields.take();
}

void GpuReport::update(const Telemetry& telemetry) {
  readings_ = telemetry.gpus;
  for (const GpuFacts& facts : telemetry.gpu_facts) {
    const auto known = find_gpu(facts_, facts.pci_bus_id);
    if (known == facts_.end()) {
      facts_.push_back(facts);
    } else {
      facts_[static_cast<std::size_t>(known - facts_.begin())] = facts;
    }
  }
}

GpuRefs GpuReport::at(const std::string& pci_bus_id) const {
  const auto facts = find_gpu(facts_, pci_bus_id);
  const auto reading = find_gpu(readings_, pci_bus_id);
  return {facts == facts_.end() ? nullptr : &*facts,
          reading == readings_.end() ? nullptr : &*reading};
}

void GpuReport::details(const MachineInfo& machine) const {
  if (json_) return;
  for (const GpuFacts& facts : facts_) {
    const std::string why = why_unused(machine, facts.pci_bus_id);
    console_.line("");
    console_.line(why.empty() ? facts.name : trf("{}: not used, {}", facts.name, why));
    lines_of(facts, at(facts.pci_bus_id).reading);
    peers(facts);
  }
}

void GpuReport::lines_of(const GpuFacts& facts, const GpuTelemetry* reading) const {
  const auto print = [this](const std::string& label, const std::string& value) {
    console_.line("  " + padded(label, 26) + value);
  };
  if (reading != nullptr && reading->asleep) {
    print(tr("State"), tr("asleep to save power; the lab does not wake a GPU to read it"));
  } else if (!facts.unread.empty()) {
    print(tr("Readings"), "N/A (" + facts.unread + ")");
  }
  for (const GpuLine& line : describe_facts(facts)) {
    if (facts.unread.empty() || line.value) print(tr(line.label), or_reason(line.value));
  }
  if (reading == nullptr || reading->asleep || !facts.unread.empty()) return;
  print(tr("Power"), or_reason(power_text(*reading)));
  for (const GpuLine& line : describe_reading(*reading, facts)) {
    print(tr(line.label), or_reason(line.value));
  }
  processes(*reading);
}

void GpuReport::processes(const GpuTelemetry& reading) const {
  if (!reading.processes) {
    console_.line("  " + padded(tr("Processes"), 26) + "N/A (" + tr(reading.processes.reason()) +
                  ")");
    return;
  }
  console_.line("  " + padded(tr("Processes"), 26) + std::to_string(reading.processes->size()));
  for (const GpuProcess& one : *reading.processes) {
    const Maybe<std::string> part = process_instance(one);
    console_.line(fmt::format("    {:<10}{:<5}{:>7}  {:<26}{}{}", one.pid, process_type(one),
                              percent(one.utilisation), one.name.value_or(tr("(not visible)")),
                              one.memory_bytes ? format_bytes(*one.memory_bytes)
                                               : "N/A (" + tr(one.memory_bytes.reason()) + ")",
                              part ? ", " + *part : ""));
  }
  if (reading.processes->empty()) return;
  const auto silent = std::find_if(reading.processes->begin(), reading.processes->end(),
                                   [](const GpuProcess& one) { return !one.utilisation; });
  if (silent != reading.processes->end()) {
    console_.line("    " +
                  trf("Load of {}: N/A ({})", silent->pid, tr(silent->utilisation.reason())));
  }
  const Maybe<std::string> part = process_instance(reading.processes->front());
  if (!part) console_.line("    " + trf("MIG instances: N/A ({})", tr(part.reason())));
}

void GpuReport::peers(const GpuFacts& facts) const {
  for (const GpuPeer& peer : facts.peers) {
    console_.line("  " + trf("Memory of {:<16}read {}, write {}, NVLink {}", peer.pci_bus_id,
                             access_word(peer.read), access_word(peer.write),
                             access_word(peer.nvlink)));
  }
}

void GpuReport::readings() const {
  if (json_ || readings_.empty()) return;
  console_.line("");
  console_.line(layout_.header());
  for (const GpuTelemetry& t : readings_) {
    if (t.asleep) {
      console_.line(layout_.row({t.pci_bus_id, tr("asleep")}));
      continue;
    }
    console_.line(
        layout_.row({t.pci_bus_id, percent(t.utilisation), or_na(t.sm_clock_mhz, "{:.0f} MHz"),
                     or_na(t.temperature_c, "{:.0f} C"), power_text(t).value_or("N/A"),
                     t.memory_used_bytes ? format_bytes(*t.memory_used_bytes) : "N/A"}));
  }
}

void GpuReport::skipped(const MachineInfo& machine) const {
  if (!json_) return;
  for (const GpuFacts& facts : facts_) {
    const std::string why = why_unused(machine, facts.pci_bus_id);
    if (!why.empty()) console_.line(json_skip(facts.name, why, at(facts.pci_bus_id)));
  }
}

bool GpuReport::covers(const AbsentDevice& absent) const {
  std::vector<std::string> addresses;
  for (const GpuFacts& facts : facts_) addresses.push_back(facts.pci_bus_id);
  return is_one_of(absent, addresses);
}

}  // namespace lab::app
