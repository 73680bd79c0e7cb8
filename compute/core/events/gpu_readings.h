#pragma once
// Declares the facts and readings of NVIDIA GPUs, each once: the member that stores it, its JSON
// key, and its line on the Devices page and in the terminal. The JSON object, the lines and the
// reasons of missing values are generated from these lists. compute/gpu/nvml/nvml_readings.cpp
// queries NVML.
#include <string>
#include <vector>

#include "compute/core/events/gpu_info.h"

namespace lab {

// Display line of a value of type T.
template <typename T>
struct GpuLineFormat {
  const char* group;  // heading of the line; empty: visible without unfolding
  const char* label;
  Maybe<std::string> (*text)(const Maybe<T>& value, const GpuFacts& facts);
  const char* hint;
};
template <typename T>
constexpr GpuLineFormat<T> gpu_line(const char* group, const char* label,
                                    Maybe<std::string> (*text)(const Maybe<T>&, const GpuFacts&),
                                    const char* hint = "") {
  return {group, label, text, hint};
}

// A value without a line, which the page displays in another form.
struct NoGpuLine {};

// Formats values as text. A missing value keeps its reason.
namespace gpu_text {

using Text = Maybe<std::string>;

Text same(const Text& value, const GpuFacts& facts);  // returns the value unchanged
Text number(const Maybe<int>& value, const GpuFacts& facts);
Text megahertz(const Maybe<double>& value, const GpuFacts& facts);
Text celsius(const Maybe<double>& value, const GpuFacts& facts);
Text share(const Maybe<double>& value, const GpuFacts& facts);  // converts 0..1 to percent
Text bytes_per_second(const Maybe<double>& value, const GpuFacts& facts);
Text on_off(const Maybe<bool>& value, const GpuFacts& facts);
Text active(const Maybe<bool>& value, const GpuFacts& facts);
Text pcie_link(const Maybe<PcieLink>& value, const GpuFacts& facts);
Text nvlinks(const Maybe<NvLinks>& value, const GpuFacts& facts);
Text power_limits(const Maybe<PowerLimits>& value, const GpuFacts& facts);
Text performance_state(const Maybe<int>& value, const GpuFacts& facts);
Text clock_limits(const Maybe<std::vector<std::string>>& value, const GpuFacts& facts);
Text ecc_errors(const Maybe<EccErrors>& value, const GpuFacts& facts);
// "132 with 16896 cores".
Text multiprocessors(const Maybe<int>& sms, const GpuFacts& facts);
// "4.92 TB/s over 6144 bits".
Text memory_bandwidth(const Maybe<int>& bus_bits, const GpuFacts& facts);
// "1755 MHz of 1980 MHz"; `kMost` is the fact that holds the maximum clock.
Text clock_of(const Maybe<double>& now, const Maybe<double>& most);
template <Maybe<double> GpuFacts::*kMost>
Text clock(const Maybe<double>& now, const GpuFacts& facts) {
  return clock_of(now, facts.*kMost);
}

}  // namespace gpu_text

// Calls visit(member, JSON key, line) for every fact, in the order of the page. Lines of one group
// are adjacent.
template <typename Visit>
void for_each_gpu_fact(const Visit& visit) {
  using F = GpuFacts;
  namespace text = gpu_text;
  constexpr const char *kGpu = "The GPU", *kLimits = "Its limits", *kPlace = "Its place",
                       *kVersions = "Numbers and versions";
  visit(&F::memory_total_bytes, "memory_total_bytes", NoGpuLine{});
  visit(&F::cuda_cores, "cuda_cores", NoGpuLine{});
  visit(&F::architecture, "architecture", gpu_line(kGpu, "Architecture", text::same));
  visit(
      &F::compute_capability, "compute_capability",
      gpu_line(kGpu, "Compute capability", text::same, "Which instructions its kernels may use."));
  visit(&F::sms, "sms",
        gpu_line(kGpu, "Multiprocessors", text::multiprocessors,
                 "SMs: each runs blocks of threads on its own."));
  visit(&F::ecc, "ecc",
        gpu_line(kGpu, "ECC", text::on_off, "Memory that notices and mends flipped bits."));
  visit(&F::mig, "mig",
        gpu_line(kGpu, "MIG", text::on_off,
                 "Multi-instance GPU: the GPU is divided into several small ones."));
  visit(&F::sm_clock_max_mhz, "sm_clock_max_mhz",
        gpu_line(kLimits, "SM clock at most", text::megahertz));
  visit(&F::graphics_clock_max_mhz, "graphics_clock_max_mhz",
        gpu_line(kLimits, "Graphics clock at most", text::megahertz));
  visit(&F::memory_clock_max_mhz, "memory_clock_max_mhz",
        gpu_line(kLimits, "Memory clock at most", text::megahertz));
  visit(&F::video_clock_max_mhz, "video_clock_max_mhz",
        gpu_line(kLimits, "Video clock at most", text::megahertz));
  visit(&F::memory_bus_bits, "memory_bus_bits",
        gpu_line(kLimits, "Memory bandwidth at most", text::memory_bandwidth,
                 "Calculated: bus width x twice the greatest memory clock. Copies reach about "
                 "90 % of it."));
  visit(&F::power_limits, "power_limits",
        gpu_line(kLimits, "Power limit", text::power_limits,
                 "Within which an administrator may set it (nvidia-smi -pl)."));
  visit(&F::slowdown_c, "slowdown_c", gpu_line(kLimits, "Slows down at", text::celsius));
  visit(&F::pcie_best, "pcie_best",
        gpu_line(kPlace, "PCIe at best", text::pcie_link, "What GPU and slot can do together."));
  visit(&F::nvlinks, "nvlink",
        gpu_line(kPlace, "NVLink", text::nvlinks, "Direct links to other GPUs or to a switch."));
  visit(&F::numa_node, "numa_node",
        gpu_line(kPlace, "NUMA node", text::number,
                 "The node of main memory that is nearest to the GPU."));
  visit(&F::near_cpus, "near_cpus",
        gpu_line(kPlace, "Nearest cores", text::same, "Numbers of the operating system."));
  visit(&F::uuid, "uuid",
        gpu_line(kVersions, "UUID", text::same,
                 "Of this GPU alone; CUDA_VISIBLE_DEVICES takes it too."));
  visit(&F::serial, "serial", gpu_line(kVersions, "Serial number", text::same, "Of the board."));
  visit(&F::vbios_version, "vbios_version",
        gpu_line(kVersions, "VBIOS", text::same, "The firmware that starts the GPU."));
  visit(&F::driver_version, "driver_version", gpu_line(kVersions, "Driver", text::same));
  visit(&F::cuda_version, "cuda_version",
        gpu_line(kVersions, "CUDA of the driver", text::same,
                 "The newest version that the driver runs."));
  visit(&F::runtime_version, "runtime_version",
        gpu_line(kVersions, "CUDA of the lab", text::same,
                 "The runtime that the lab's kernels were built with."));
}

// Calls visit(member, JSON key, line) for every reading, in the order of the page.
template <typename Visit>
void for_each_gpu_reading(const Visit& visit) {
  using F = GpuFacts;
  using T = GpuTelemetry;
  namespace text = gpu_text;
  constexpr const char *kFirst = "", *kClocks = "Clocks now", *kLoad = "Load now",
                       *kState = "State now";
  visit(&T::utilisation, "utilisation", NoGpuLine{});
  visit(&T::memory_used_bytes, "memory_used_bytes", NoGpuLine{});
  visit(&T::memory_free_bytes, "memory_free_bytes", NoGpuLine{});
  visit(&T::power_w, "power_w", NoGpuLine{});
  visit(&T::power_limit_w, "power_limit_w", NoGpuLine{});
  visit(&T::sm_clock_mhz, "sm_clock_mhz",
        gpu_line(kFirst, "SM clock", text::clock<&F::sm_clock_max_mhz>,
                 "Of the multiprocessors, now and at most."));
  visit(&T::temperature_c, "temperature_c", gpu_line(kFirst, "Temperature", text::celsius));
  visit(&T::clock_limits, "clock_limits",
        gpu_line(kFirst, "Clocks held back by", text::clock_limits,
                 "Why the clocks are not higher, as the driver tells it."));
  visit(&T::graphics_clock_mhz, "graphics_clock_mhz",
        gpu_line(kClocks, "Graphics clock", text::clock<&F::graphics_clock_max_mhz>,
                 "Of the units that draw, now and at most."));
  visit(&T::memory_clock_mhz, "memory_clock_mhz",
        gpu_line(kClocks, "Memory clock", text::clock<&F::memory_clock_max_mhz>));
  visit(&T::video_clock_mhz, "video_clock_mhz",
        gpu_line(kClocks, "Video clock", text::clock<&F::video_clock_max_mhz>,
                 "Of the video encoder and decoder, now and at most."));
  visit(&T::memory_utilisation, "memory_utilisation",
        gpu_line(kLoad, "Memory controller", text::share,
                 "Share of the driver's last sample in which the GPU's memory was read or written. "
                 "It says nothing of how much moved."));
  visit(&T::encoder_utilisation, "encoder_utilisation",
        gpu_line(kLoad, "Video encoder", text::share, "Share of the time in which it encoded."));
  visit(&T::decoder_utilisation, "decoder_utilisation",
        gpu_line(kLoad, "Video decoder", text::share, "Share of the time in which it decoded."));
  visit(&T::pcie, "pcie",
        gpu_line(kLoad, "PCIe now", text::pcie_link,
                 "An idle GPU slows its link down to save power."));
  visit(&T::pcie_received_bytes_per_s, "pcie_received_bytes_per_s",
        gpu_line(kLoad, "PCIe received", text::bytes_per_second,
                 "By the GPU, over 20 ms. The driver counts them in the lab's time, so it is asked "
                 "once in 5 s at most."));
  visit(&T::pcie_sent_bytes_per_s, "pcie_sent_bytes_per_s",
        gpu_line(kLoad, "PCIe sent", text::bytes_per_second,
                 "By the GPU, over 20 ms, once in 5 s at most."));
  visit(&T::performance_state, "performance_state",
        gpu_line(kState, "Performance state", text::performance_state,
                 "P0 is the fastest, P15 the slowest."));
  visit(&T::fan, "fan", gpu_line(kState, "Fan", text::share));
  visit(&T::ecc_errors, "ecc_errors",
        gpu_line(kState, "ECC errors", text::ecc_errors, "Since the driver was loaded."));
  visit(&T::persistence_mode, "persistence_mode",
        gpu_line(kState, "Persistence mode", text::on_off,
                 "On: the driver stays loaded while no program uses the GPU, so that the next one "
                 "starts sooner."));
  visit(&T::compute_mode, "compute_mode",
        gpu_line(kState, "Compute mode", text::same,
                 "How many programs may compute on it: by default any number; exclusive process: "
                 "one; prohibited: none."));
  visit(&T::display_active, "display_active",
        gpu_line(kState, "Display", text::active,
                 "Active: the GPU keeps a screen in its memory, even where no monitor is plugged "
                 "in."));
  visit(&T::processes, "processes", NoGpuLine{});
}

}  // namespace lab
