#include "compute/core/events/gpu_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/core/units.h"

namespace lab {
namespace {

using Text = Maybe<std::string>;

// The value as `words` puts it, or its reason.
template <typename T, typename Words>
Text text(const Maybe<T>& value, const Words& words) {
  return value ? Text(words(*value)) : Text::missing(value.reason());
}

Text megahertz(const Maybe<double>& value) {
  return text(value, [](double mhz) { return fmt::format("{:.0f} MHz", mhz); });
}
Text celsius(const Maybe<double>& value) {
  return text(value, [](double c) { return fmt::format("{:.0f} °C", c); });
}
Text share(const Maybe<double>& value) {
  return text(value, [](double s) { return fmt::format("{:.0f} %", 100 * s); });
}
Text on_off(const Maybe<bool>& value) {
  return text(value, [](bool on) { return on ? "on" : "off"; });
}
Text watts(const Maybe<double>& value) {
  return text(value, [](double w) { return fmt::format("{:.0f} W", w); });
}

Text per_second(const Maybe<double>& value) {
  return text(value, [](double bytes) { return format_si(bytes, "B/s"); });
}
Text link(const Maybe<PcieLink>& value) {
  return text(value, [](const PcieLink& l) { return to_string(l); });
}
// "1755 MHz of 1980 MHz".
Text clock(const Maybe<double>& now_mhz, const Maybe<double>& most_mhz) {
  const Text now = megahertz(now_mhz);
  return now && most_mhz ? *now + " of " + *megahertz(most_mhz) : now;
}

Text multiprocessors(const GpuFacts& f) {
  if (!f.sms) return Text::missing(f.sms.reason());
  return f.cuda_cores ? fmt::format("{} with {} cores", *f.sms, *f.cuda_cores)
                      : std::to_string(*f.sms);
}

// Memory moves data on both edges of the clock that NVML tells.
Text memory_bandwidth(const GpuFacts& f) {
  if (!f.memory_bus_bits) return Text::missing(f.memory_bus_bits.reason());
  if (!f.memory_clock_max_mhz) return Text::missing(f.memory_clock_max_mhz.reason());
  const double bytes_per_s = *f.memory_bus_bits / 8.0 * 2 * *f.memory_clock_max_mhz * 1e6;
  return fmt::format("{} over {} bits", format_si(bytes_per_s, "B/s"), *f.memory_bus_bits);
}

std::string power_limits(const PowerLimits& p) {
  return fmt::format("{:.0f} to {:.0f} W, default {:.0f} W", p.min_w, p.max_w, p.default_w);
}

std::string nvlinks(const NvLinks& n) {
  return fmt::format("{} of {} links active{}", n.active, n.links,
                     n.version.empty() ? "" : ", version " + n.version);
}

std::string clock_limits(const std::vector<std::string>& limits) {
  return limits.empty() ? "nothing" : fmt::format("{}", fmt::join(limits, "; "));
}

std::string ecc_errors(const EccErrors& e) {
  return fmt::format("{} corrected, {} not", e.corrected, e.uncorrected);
}

void add_group(std::vector<GpuLine>& to, const char* group, std::vector<GpuLine> lines) {
  for (GpuLine& line : lines) {
    line.group = group;
    to.push_back(std::move(line));
  }
}

std::vector<GpuLine> lines_of_limits(const GpuFacts& f) {
  return {
      {"SM clock at most", megahertz(f.sm_clock_max_mhz)},
      {"Graphics clock at most", megahertz(f.graphics_clock_max_mhz)},
      {"Memory clock at most", megahertz(f.memory_clock_max_mhz)},
      {"Video clock at most", megahertz(f.video_clock_max_mhz)},
      {"Memory bandwidth at most", memory_bandwidth(f),
       "Calculated: bus width x twice the greatest memory clock. Copies reach about 90 % of it."},
      {"Power limit", text(f.power_limits, power_limits),
       "Within which an administrator may set it (nvidia-smi -pl)."},
      {"Slows down at", celsius(f.slowdown_c)},
  };
}

std::vector<GpuLine> lines_of_state(const GpuTelemetry& t) {
  return {
      {"Performance state",
       text(t.performance_state, [](int state) { return fmt::format("P{}", state); }),
       "P0 is the fastest, P15 the slowest."},
      {"Fan", share(t.fan)},
      {"ECC errors", text(t.ecc_errors, ecc_errors), "Since the driver was loaded."},
      {"Persistence mode", on_off(t.persistence_mode),
       "On: the driver stays loaded while no program uses the GPU, so that the next one starts "
       "sooner."},
      {"Compute mode", t.compute_mode,
       "How many programs may compute on it: by default any number; exclusive process: one; "
       "prohibited: none."},
      {"Display", text(t.display_active, [](bool on) { return on ? "active" : "off"; }),
       "Active: the GPU keeps a screen in its memory, even where no monitor is plugged in."},
  };
}

}  // namespace

std::string to_string(const PcieLink& link) {
  return fmt::format("gen {} x{}", link.generation, link.width);
}

Maybe<std::string> power_text(const GpuTelemetry& t) {
  const Text now = watts(t.power_w);
  return now && t.power_limit_w ? *now + " of " + *watts(t.power_limit_w) : now;
}

std::string process_type(const GpuProcess& process) {
  if (process.shares) return "M+C";
  if (process.computes && process.draws) return "C+G";
  return process.draws ? "G" : "C";
}

Maybe<std::string> process_instance(const GpuProcess& process) {
  if (!process.gpu_instance) return Text::missing(process.gpu_instance.reason());
  const std::string instance = fmt::format("GPU instance {}", *process.gpu_instance);
  return process.compute_instance
             ? fmt::format("{}, compute instance {}", instance, *process.compute_instance)
             : instance;
}

std::vector<GpuLine> describe_facts(const GpuFacts& f) {
  std::vector<GpuLine> all;
  add_group(
      all, "The GPU",
      {{"Architecture", f.architecture},
       {"Compute capability", f.compute_capability, "Which instructions its kernels may use."},
       {"Multiprocessors", multiprocessors(f), "SMs: each runs blocks of threads on its own."},
       {"ECC", on_off(f.ecc), "Memory that notices and mends flipped bits."},
       {"MIG", on_off(f.mig), "Multi-instance GPU: the GPU is divided into several small ones."}});
  add_group(all, "Its limits", lines_of_limits(f));
  add_group(all, "Its place",
            {{"PCIe at best", link(f.pcie_best), "What GPU and slot can do together."},
             {"NVLink", text(f.nvlinks, nvlinks), "Direct links to other GPUs or to a switch."},
             {"NUMA node", text(f.numa_node, [](int node) { return std::to_string(node); }),
              "The node of main memory that is nearest to the GPU."},
             {"Nearest cores", f.near_cpus, "Numbers of the operating system."},
             {"PCI address", f.pci_bus_id}});
  add_group(all, "Numbers and versions",
            {{"UUID", f.uuid, "Of this GPU alone; CUDA_VISIBLE_DEVICES takes it too."},
             {"Serial number", f.serial, "Of the board."},
             {"VBIOS", f.vbios_version, "The firmware that starts the GPU."},
             {"Driver", f.driver_version},
             {"CUDA of the driver", f.cuda_version, "The newest version that the driver runs."},
             {"CUDA of the lab", f.runtime_version,
              "The runtime that the lab's kernels were built with."}});
  return all;
}

std::vector<GpuLine> describe_reading(const GpuTelemetry& t, const GpuFacts& f) {
  if (t.asleep) return {};
  std::vector<GpuLine> all{
      {"SM clock", clock(t.sm_clock_mhz, f.sm_clock_max_mhz),
       "Of the multiprocessors, now and at most.", true},
      {"Temperature", celsius(t.temperature_c), "", true},
      {"Clocks held back by", text(t.clock_limits, clock_limits),
       "Why the clocks are not higher, as the driver tells it.", true},
  };
  add_group(all, "Clocks now",
            {{"Graphics clock", clock(t.graphics_clock_mhz, f.graphics_clock_max_mhz),
              "Of the units that draw, now and at most."},
             {"Memory clock", clock(t.memory_clock_mhz, f.memory_clock_max_mhz)},
             {"Video clock", clock(t.video_clock_mhz, f.video_clock_max_mhz),
              "Of the video encoder and decoder, now and at most."}});
  add_group(
      all, "Load now",
      {{"Memory controller", share(t.memory_utilisation),
        "Share of the driver's last sample in which the GPU's memory was read or written. It says "
        "nothing of how much moved."},
       {"Video encoder", share(t.encoder_utilisation), "Share of the time in which it encoded."},
       {"Video decoder", share(t.decoder_utilisation), "Share of the time in which it decoded."},
       {"PCIe now", link(t.pcie), "An idle GPU slows its link down to save power."},
       {"PCIe received", per_second(t.pcie_received_bytes_per_s),
        "By the GPU, over 20 ms. The driver counts them in the lab's time, so it is asked once in "
        "5 s at most."},
       {"PCIe sent", per_second(t.pcie_sent_bytes_per_s),
        "By the GPU, over 20 ms, once in 5 s at most."}});
  add_group(all, "State now", lines_of_state(t));
  return all;
}

std::string why_unused(const MachineInfo& machine, const std::string& pci_bus_id) {
  const bool used = std::any_of(machine.devices.begin(), machine.devices.end(),
                                [&](const DeviceInfo& d) { return d.pci_bus_id == pci_bus_id; });
  if (used) return {};
  // An absence without an address is of all GPUs.
  for (const std::string& address : {pci_bus_id, std::string()}) {
    for (const AbsentDevice& absent : machine.absent) {
      if (absent.pci_bus_id == address) return absent.reason;
    }
  }
  return "the CUDA driver does not offer this GPU to the lab (CUDA_VISIBLE_DEVICES?)";
}

bool is_one_of(const AbsentDevice& absent, const std::vector<std::string>& pci_bus_ids) {
  if (absent.pci_bus_id.empty()) return !pci_bus_ids.empty();
  return std::find(pci_bus_ids.begin(), pci_bus_ids.end(), absent.pci_bus_id) != pci_bus_ids.end();
}

}  // namespace lab
