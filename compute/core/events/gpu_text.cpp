#include "compute/core/events/gpu_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/core/events/gpu_readings.h"
#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab {
namespace gpu_text {
namespace {

// Formats the value with `words`, or returns its reason.
template <typename T, typename Words>
Text text(const Maybe<T>& value, const Words& words) {
  return value ? Text(words(*value)) : Text::missing(value.reason());
}

Text in_megahertz(const Maybe<double>& value) {
  return text(value, [](double mhz) { return fmt::format("{:.0f} MHz", mhz); });
}

}  // namespace

Text same(const Text& value, const GpuFacts&) {
  return value;
}
Text number(const Maybe<int>& value, const GpuFacts&) {
  return text(value, [](int n) { return std::to_string(n); });
}
Text megahertz(const Maybe<double>& value, const GpuFacts&) {
  return in_megahertz(value);
}
Text celsius(const Maybe<double>& value, const GpuFacts&) {
  return text(value, [](double c) { return fmt::format("{:.0f} °C", c); });
}
Text share(const Maybe<double>& value, const GpuFacts&) {
  return text(value, [](double s) { return fmt::format("{:.0f} %", 100 * s); });
}
Text bytes_per_second(const Maybe<double>& value, const GpuFacts&) {
  return text(value, [](double bytes) { return format_si(bytes, "B/s"); });
}
Text on_off(const Maybe<bool>& value, const GpuFacts&) {
  return text(value, [](bool on) { return on ? tr("on") : tr("off"); });
}
Text active(const Maybe<bool>& value, const GpuFacts&) {
  return text(value, [](bool on) { return on ? tr("active") : tr("off"); });
}
Text pcie_link(const Maybe<PcieLink>& value, const GpuFacts&) {
  return text(value, [](const PcieLink& l) { return to_string(l); });
}
Text nvlinks(const Maybe<NvLinks>& value, const GpuFacts&) {
  return text(value, [](const NvLinks& n) {
    return n.version.empty()
               ? trf("{} of {} links active", n.active, n.links)
               : trf("{} of {} links active, version {}", n.active, n.links, n.version);
  });
}
Text power_limits(const Maybe<PowerLimits>& value, const GpuFacts&) {
  return text(value, [](const PowerLimits& p) {
    return trf("{:.0f} to {:.0f} W, default {:.0f} W", p.min_w, p.max_w, p.default_w);
  });
}
Text performance_state(const Maybe<int>& value, const GpuFacts&) {
  return text(value, [](int state) { return fmt::format("P{}", state); });
}
Text clock_limits(const Maybe<std::vector<std::string>>& value, const GpuFacts&) {
  return text(value, [](const std::vector<std::string>& limits) {
    return limits.empty() ? tr("nothing") : fmt::format("{}", fmt::join(limits, "; "));
  });
}
Text ecc_errors(const Maybe<EccErrors>& value, const GpuFacts&) {
  return text(value, [](const EccErrors& e) {
    return trf("{} corrected, {} uncorrected", e.corrected, e.uncorrected);
  });
}

Text multiprocessors(const Maybe<int>& sms, const GpuFacts& facts) {
  return text(sms, [&](int n) {
    return facts.cuda_cores ? trf("{} with {} cores", n, *facts.cuda_cores) : std::to_string(n);
  });
}

Text memory_bandwidth(const Maybe<int>& bus_bits, const GpuFacts& facts) {
  if (!bus_bits) return Text::missing(bus_bits.reason());
  return text(facts.memory_clock_max_mhz, [&](double mhz) {
    // Memory transfers data on both edges of the clock reported by NVML.
    const double bytes_per_s = *bus_bits / 8.0 * 2 * mhz * 1e6;
    return trf("{} over {} bits", format_si(bytes_per_s, "B/s"), *bus_bits);
  });
}

Text clock_of(const Maybe<double>& now, const Maybe<double>& most) {
  const Text text = in_megahertz(now);
  return text && most ? trf("{} of {}", *text, *in_megahertz(most)) : text;
}

}  // namespace gpu_text

namespace {

// Visitor that appends a line for each listed value of `owner`.
template <typename Owner>
class LinesOf {
 public:
  LinesOf(const Owner& owner, const GpuFacts& facts, std::vector<GpuLine>& lines)
      : owner_(owner), facts_(facts), lines_(lines) {}
  template <typename T>
  void operator()(Maybe<T> Owner::*member, const char*, const GpuLineFormat<T>& line) const {
    lines_.push_back({line.label, line.text(owner_.*member, facts_), line.hint, line.group});
  }
  template <typename T>
  void operator()(Maybe<T> Owner::*, const char*, NoGpuLine) const {}

 private:
  const Owner& owner_;
  const GpuFacts& facts_;
  std::vector<GpuLine>& lines_;
};

std::string watts(double w) {
  return fmt::format("{:.0f} W", w);
}

}  // namespace

std::string to_string(const PcieLink& link) {
  return trf("gen {} x{}", link.generation, link.width);
}

Maybe<std::string> power_text(const GpuTelemetry& t) {
  if (!t.power_w) return Maybe<std::string>::missing(t.power_w.reason());
  return t.power_limit_w ? trf("{} of {}", watts(*t.power_w), watts(*t.power_limit_w))
                         : watts(*t.power_w);
}

std::string process_type(const GpuProcess& process) {
  if (process.shares) return "M+C";
  if (process.computes && process.draws) return "C+G";
  return process.draws ? "G" : "C";
}

Maybe<std::string> process_instance(const GpuProcess& process) {
  if (!process.gpu_instance) {
    return Maybe<std::string>::missing(process.gpu_instance.reason());
  }
  const std::string instance = trf("GPU instance {}", *process.gpu_instance);
  return process.compute_instance
             ? trf("{}, compute instance {}", instance, *process.compute_instance)
             : instance;
}

std::vector<GpuLine> describe_facts(const GpuFacts& facts) {
  std::vector<GpuLine> lines;
  for_each_gpu_fact(LinesOf(facts, facts, lines));
  lines.push_back({LAB_TEXT("PCI address"), facts.pci_bus_id, "", lines.back().group});
  return lines;
}

std::vector<GpuLine> describe_reading(const GpuTelemetry& reading, const GpuFacts& facts) {
  std::vector<GpuLine> lines;
  if (!reading.asleep) for_each_gpu_reading(LinesOf(reading, facts, lines));
  return lines;
}

std::string why_unused(const MachineInfo& machine, const std::string& pci_bus_id) {
  const bool used = std::any_of(machine.devices.begin(), machine.devices.end(),
                                [&](const DeviceInfo& d) { return d.pci_bus_id == pci_bus_id; });
  if (used) return {};
  // An absent device without an address stands for all GPUs.
  for (const std::string& address : {pci_bus_id, std::string()}) {
    for (const AbsentDevice& absent : machine.absent) {
      if (absent.pci_bus_id == address) return absent.reason;
    }
  }
  return tr("the CUDA driver does not report this GPU; check CUDA_VISIBLE_DEVICES");
}

bool is_one_of(const AbsentDevice& absent, const std::vector<std::string>& pci_bus_ids) {
  if (absent.pci_bus_id.empty()) return !pci_bus_ids.empty();
  return std::find(pci_bus_ids.begin(), pci_bus_ids.end(), absent.pci_bus_id) != pci_bus_ids.end();
}

}  // namespace lab
