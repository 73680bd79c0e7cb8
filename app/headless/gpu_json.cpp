#include "app/headless/gpu_json.h"

#include "compute/core/events/gpu_words.h"

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

// An object whose missing values have their reasons beside them.
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

void add_facts(Fields& to, const GpuFacts& f) {
  to.json()["pci_bus_id"] = f.pci_bus_id;
  to.json()["name"] = f.name;
  to.add("architecture", f.architecture);
  to.add("compute_capability", f.compute_capability);
  to.add("sms", f.sms);
  to.add("cuda_cores", f.cuda_cores);
  to.add("memory_bus_bits", f.memory_bus_bits);
  to.add("sm_clock_max_mhz", f.sm_clock_max_mhz);
  to.add("graphics_clock_max_mhz", f.graphics_clock_max_mhz);
  to.add("memory_clock_max_mhz", f.memory_clock_max_mhz);
  to.add("video_clock_max_mhz", f.video_clock_max_mhz);
  to.add("power_limits", f.power_limits);
  to.add("slowdown_c", f.slowdown_c);
  to.add("pcie_best", f.pcie_best);
  to.add("nvlink", f.nvlinks);
  to.add("ecc", f.ecc);
  to.add("mig", f.mig);
  to.add("numa_node", f.numa_node);
  to.add("near_cpus", f.near_cpus);
  to.add("uuid", f.uuid);
  to.add("serial", f.serial);
  to.add("vbios_version", f.vbios_version);
  to.add("driver_version", f.driver_version);
  to.add("cuda_version", f.cuda_version);
  to.add("runtime_version", f.runtime_version);
  Json peers = Json::array();
  for (const GpuPeer& peer : f.peers) {
    Fields one;
    one.json()["pci_bus_id"] = peer.pci_bus_id;
    one.add("read", peer.read);
    one.add("write", peer.write);
    one.add("nvlink", peer.nvlink);
    peers.push_back(one.take());
  }
  to.json()["peers"] = std::move(peers);
}

void add_reading(Fields& to, const GpuTelemetry& t) {
  to.json()["asleep"] = t.asleep;
  to.add("utilisation", t.utilisation);
  to.add("memory_utilisation", t.memory_utilisation);
  to.add("encoder_utilisation", t.encoder_utilisation);
  to.add("decoder_utilisation", t.decoder_utilisation);
  to.add("sm_clock_mhz", t.sm_clock_mhz);
  to.add("graphics_clock_mhz", t.graphics_clock_mhz);
  to.add("memory_clock_mhz", t.memory_clock_mhz);
  to.add("video_clock_mhz", t.video_clock_mhz);
  to.add("memory_total_bytes", t.memory_total_bytes);
  to.add("memory_used_bytes", t.memory_used_bytes);
  to.add("memory_free_bytes", t.memory_free_bytes);
  to.add("power_w", t.power_w);
  to.add("power_limit_w", t.power_limit_w);
  to.add("temperature_c", t.temperature_c);
  to.add("fan", t.fan);
  to.add("performance_state", t.performance_state);
  to.add("clock_limits", t.clock_limits);
  to.add("pcie", t.pcie);
  to.add("pcie_received_bytes_per_s", t.pcie_received_bytes_per_s);
  to.add("pcie_sent_bytes_per_s", t.pcie_sent_bytes_per_s);
  to.add("persistence_mode", t.persistence_mode);
  to.add("compute_mode", t.compute_mode);
  to.add("display_active", t.display_active);
  to.add("ecc_errors", t.ecc_errors);
  to.add("processes", t.processes);
}

}  // namespace

Json gpu_json(const GpuFacts& facts, const GpuTelemetry* reading) {
  Fields fields;
  add_facts(fields, facts);
  if (reading == nullptr) {
    fields.add("memory_total_bytes", facts.memory_total_bytes);
  } else {
    add_reading(fields, *reading);
  }
  return fields.take();
}

}  // namespace lab::app
