#include <fmt/format.h>

#include <string>
#include <vector>

#include "app/headless/commands.h"
#include "app/headless/gpu_report.h"
#include "app/headless/json_lines.h"
#include "app/headless/table.h"
#include "compute/core/events/core_text.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/gpu/cuda/open_gpus.h"
#include "compute/machine/telemetry.h"
#include "compute/run/lab_clock.h"

namespace lab::app {
namespace {

// Rates are differences between two readings; this is the shortest useful interval.
constexpr double kFirstIntervalS = 0.25;

const DeviceTelemetry* reading_of(const Telemetry& telemetry, Device device) {
  for (const DeviceTelemetry& t : telemetry.devices) {
    if (t.device == device) return &t;
  }
  return nullptr;
}

std::string or_reason(const Maybe<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "N/A (" + tr(value.reason()) + ")";
}

std::string caches_text(const std::vector<CacheInfo>& caches) {
  std::string text;
  for (const CacheInfo& c : caches) {
    text += fmt::format("{}L{} {}{}", text.empty() ? "" : ", ", c.level,
                        c.instances > 1 ? fmt::format("{} x ", c.instances) : "",
                        format_bytes(c.size_bytes));
  }
  return text.empty() ? "N/A" : text;
}

class DeviceReport {
 public:
  DeviceReport(Console& console, bool json)
      : console_(console), json_(json), gpus_(console, json) {}

  void update(const Telemetry& telemetry) { gpus_.update(telemetry); }

  void facts(const MachineInfo& machine) {
    if (json_) return;
    console_.line(machine.kernel.empty()
                      ? fmt::format("{}, {}", machine.host, machine.system)
                      : trf("{}, {}, kernel {}", machine.host, machine.system, machine.kernel));
    for (const DeviceInfo& d : machine.devices) {
      console_.line("");
      console_.line(fmt::format("{}  {}", to_string(d.device), d.name));
      const bool is_cpu = d.device.kind == DeviceKind::Cpu;
      if (is_cpu) {
        fact(tr("cores"),
             d.packages == 1 ? trf("{} cores, {} lab threads, 1 package", d.cores.size(), d.threads)
                             : trf("{} cores, {} lab threads, {} packages", d.cores.size(),
                                   d.threads, d.packages));
        if (!d.core_kinds.empty()) fact(tr("core kinds"), core_kinds_text(d));
      }
      if (!d.simd.empty()) fact("SIMD", tr(d.simd_detail.empty() ? d.simd : d.simd_detail));
      if (is_timed(d.device)) fact(tr("caches"), caches_text(d.caches));
      if (is_cpu) fact(tr("NUMA"), trf("node {}", fmt::join(d.numa_nodes, ", ")));
      if (is_timed(d.device)) fact(tr("clock, max"), or_reason(d.clock_max_mhz, "{:.0f} MHz"));
      if (d.virtual_machine) fact(tr("clock"), tr("nominal, as reported by the virtual machine"));
      fact(tr("memory"),
           is_cpu ? trf("{} in the machine, {} for this device's tensors",
                        format_bytes(d.memory_total_bytes), format_bytes(d.memory_limit_bytes))
                  : trf("{} on the GPU, {} for this device's tensors",
                        format_bytes(d.memory_total_bytes), format_bytes(d.memory_limit_bytes)));
      for (const auto& [label, value] : d.details) fact(tr(label), tr(value));
    }
    console_.line("");
  }

  void readings(const MachineInfo& machine, const Telemetry& telemetry) {
    if (!json_) console_.line(layout_.header());
    for (const DeviceInfo& d : machine.devices) {
      const DeviceTelemetry* t = reading_of(telemetry, d.device);
      if (json_) {
        console_.line(json_device(d, t, gpus_.at(d.pci_bus_id)));
      } else if (t != nullptr) {
        console_.line(row(*t));
      }
    }
    gpus_.readings();
    gpus_.skipped(machine);
  }

  // Prints the devices that the lab cannot use. For a GPU that the driver reports, all its lines
  // are printed.
  void absent(const MachineInfo& machine) {
    gpus_.details(machine);
    if (!json_ && !machine.absent.empty()) console_.line("");
    for (const AbsentDevice& a : machine.absent) {
      if (gpus_.covers(a)) continue;
      console_.line(json_ ? json_skip(a.what, a.reason)
                          : trf("{}: not usable, {}", a.what, tr(a.reason)));
    }
  }

 private:
  void fact(const std::string& label, const std::string& value) {
    console_.line("  " + padded(label, 20) + value);
  }

  std::string row(const DeviceTelemetry& t) const {
    return layout_.row({to_string(t.device), percent(t.utilisation),
                        t.clock_mhz ? fmt::format("{:.0f} MHz", *t.clock_mhz) : "N/A",
                        t.temperature_c ? fmt::format("{:.0f} C", *t.temperature_c) : "N/A",
                        t.memory_available_bytes ? format_bytes(*t.memory_available_bytes) : "N/A",
                        format_bytes(t.lab_used_bytes)});
  }

  Console& console_;
  const bool json_;
  GpuReport gpus_;
  const TableLayout layout_{{{LAB_TEXT("device"), 8},
                             {LAB_TEXT("busy"), 8, true},
                             {LAB_TEXT("clock"), 9, true},
                             {LAB_TEXT("temperature"), 11, true},
                             {LAB_TEXT("memory available"), 16, true},
                             {LAB_TEXT("tensors"), 10, true}}};
};

}  // namespace

int run_devices(const DevicesOptions& options, Console& console, Interrupt& interrupt) {
  const double start_s = lab_time_s();
  Machine machine({.cpu_devices = options.cpu_devices,
                   .emulated_gpus = options.emulated_gpus,
                   .check_emulation = false,
                   .open_gpus = open_gpus});
  TelemetryReader reader(machine);
  DeviceReport report(console, options.json);
  report.update(reader.read());
  report.facts(machine.info());
  const auto read = [&] {
    const Telemetry telemetry = reader.read(lab_time_s());
    report.update(telemetry);
    report.readings(machine.info(), telemetry);
  };
  bool stopped = interrupt.wait(kFirstIntervalS);
  read();
  report.absent(machine.info());
  while (options.watch_s && !stopped) {
    stopped = interrupt.wait(*options.watch_s);
    if (!stopped) read();
  }
  if (options.json) console.line(json_done(lab_time_s() - start_s));
  return stopped ? kExitInterrupted : kExitDone;
}

}  // namespace lab::app
