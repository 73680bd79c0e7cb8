#pragma once
// Declares the facts and readings of NVIDIA GPUs, each once: the member that stores it, its JSON
// key, and its line on the Devices page and in the terminal. The JSON object, the lines and the
// reasons of missing values are generated from these lists. compute/gpu/nvml/nvml_readings.cpp
// queries NVML.
#include <string>
#include <vector>

#include "compute/core/events/gpu_info.h"
#include "compute/core/fields/enum_names.h"

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
// "1755 MHz of 1980 MHz"; `kMax` is the fact that holds the maximum clock.
Text clock_of(const Maybe<double>& now, const Maybe<double>& most);
template <Maybe<double> GpuFacts::*kMax>
Text clock(const Maybe<double>& now, const GpuFacts& facts) {
  return clock_of(now, facts.*kMax);
}

}  // namespace gpu_text

// Calls visit(member, JSON key, line) for every fact, in the order of the page. Lines of one group
// are adjacent.
template <typename Visit>
void for_each_gpu_fact(const Visit& visit) {
  using F = GpuFacts;
  namespace text = gpu_text;
  constexpr const char *kGpu = LAB_TEXT("GPU"), *kLimits = LAB_TEXT("Limits"),
                       *kPlace = LAB_TEXT("Placement"), *kVersions = LAB_TEXT("IDs and versions");
  visit(&F::memory_total_bytes, "memory_total_bytes", NoGpuLine{});
  visit(&F::cuda_cores, "cuda_cores", NoGpuLine{});
  visit(&F::architecture, "architecture", gpu_line(kGpu, LAB_TEXT("Architecture"), text::same));
  visit(&F::compute_capability, "compute_capability",
        gpu_line(kGpu, LAB_TEXT("Compute capability"), text::same,
                 LAB_TEXT("Determines the instructions that kernels may use.")));
  visit(&F::sms, "sms",
        gpu_line(kGpu, LAB_TEXT("Multiprocessors"), text::multiprocessors,
                 LAB_TEXT("SMs: each runs thread blocks independently.")));
  visit(&F::ecc, "ecc",
        gpu_line(kGpu, LAB_TEXT("ECC"), text::on_off,
                 LAB_TEXT("Memory that detects and corrects bit errors.")));
  visit(&F::mig, "mig",
        gpu_line(kGpu, LAB_TEXT("MIG"), text::on_off,
                 LAB_TEXT("Multi-Instance GPU: the GPU is partitioned into several smaller ones. "
                          "Readings are of the whole GPU.")));
  visit(&F::sm_clock_max_mhz, "sm_clock_max_mhz",
        gpu_line(kLimits, LAB_TEXT("Max SM clock"), text::megahertz));
  visit(&F::graphics_clock_max_mhz, "graphics_clock_max_mhz",
        gpu_line(kLimits, LAB_TEXT("Max graphics clock"), text::megahertz));
  visit(&F::memory_clock_max_mhz, "memory_clock_max_mhz",
        gpu_line(kLimits, LAB_TEXT("Max memory clock"), text::megahertz));
  visit(&F::video_clock_max_mhz, "video_clock_max_mhz",
        gpu_line(kLimits, LAB_TEXT("Max video clock"), text::megahertz));
  visit(&F::memory_bus_bits, "memory_bus_bits",
        gpu_line(
            kLimits, LAB_TEXT("Max memory bandwidth"), text::memory_bandwidth,
            LAB_TEXT(
                "Calculated: bus width x twice the maximum memory clock. Copies reach about 90 % "
                "of it.")));
  visit(&F::power_limits, "power_limits",
        gpu_line(kLimits, LAB_TEXT("Power limit"), text::power_limits,
                 LAB_TEXT("Range that an administrator may set (nvidia-smi -pl).")));
  visit(&F::slowdown_c, "slowdown_c",
        gpu_line(kLimits, LAB_TEXT("Slowdown temperature"), text::celsius));
  visit(&F::pcie_best, "pcie_best",
        gpu_line(kPlace, LAB_TEXT("Max PCIe link"), text::pcie_link,
                 LAB_TEXT("Fastest link that both GPU and slot support.")));
  visit(&F::nvlinks, "nvlink",
        gpu_line(kPlace, LAB_TEXT("NVLink"), text::nvlinks,
                 LAB_TEXT("Direct links to other GPUs or to a switch.")));
  visit(&F::numa_node, "numa_node",
        gpu_line(kPlace, LAB_TEXT("NUMA node"), text::number,
                 LAB_TEXT("NUMA node nearest to the GPU.")));
  visit(&F::near_cpus, "near_cpus",
        gpu_line(kPlace, LAB_TEXT("Nearest cores"), text::same,
                 LAB_TEXT("Core numbers of the operating system.")));
  visit(&F::uuid, "uuid",
        gpu_line(kVersions, LAB_TEXT("UUID"), text::same,
                 LAB_TEXT("Unique to this GPU; CUDA_VISIBLE_DEVICES accepts it.")));
  visit(&F::serial, "serial",
        gpu_line(kVersions, LAB_TEXT("Serial number"), text::same,
                 LAB_TEXT("Serial number of the board.")));
  visit(&F::vbios_version, "vbios_version",
        gpu_line(kVersions, LAB_TEXT("VBIOS"), text::same,
                 LAB_TEXT("The firmware that starts the GPU.")));
  visit(&F::driver_version, "driver_version", gpu_line(kVersions, LAB_TEXT("Driver"), text::same));
  visit(&F::cuda_version, "cuda_version",
        gpu_line(kVersions, LAB_TEXT("CUDA of the driver"), text::same,
                 LAB_TEXT("Newest CUDA version that the driver supports.")));
  visit(&F::runtime_version, "runtime_version",
        gpu_line(kVersions, LAB_TEXT("CUDA of the lab"), text::same,
                 LAB_TEXT("CUDA runtime that the lab was built with.")));
}

// Calls visit(member, JSON key, line) for every reading, in the order of the page.
template <typename Visit>
void for_each_gpu_reading(const Visit& visit) {
  using F = GpuFacts;
  using T = GpuTelemetry;
  namespace text = gpu_text;
  constexpr const char *kFirst = "", *kClocks = LAB_TEXT("Clocks"), *kLoad = LAB_TEXT("Load"),
                       *kState = LAB_TEXT("State");
  visit(&T::utilisation, "utilisation", NoGpuLine{});
  visit(&T::memory_used_bytes, "memory_used_bytes", NoGpuLine{});
  visit(&T::memory_free_bytes, "memory_free_bytes", NoGpuLine{});
  visit(&T::power_w, "power_w", NoGpuLine{});
  visit(&T::power_limit_w, "power_limit_w", NoGpuLine{});
  visit(&T::sm_clock_mhz, "sm_clock_mhz",
        gpu_line(kFirst, LAB_TEXT("SM clock"), text::clock<&F::sm_clock_max_mhz>,
                 LAB_TEXT("Clock of the multiprocessors, current and maximum.")));
  visit(&T::temperature_c, "temperature_c",
        gpu_line(kFirst, LAB_TEXT("Temperature"), text::celsius));
  visit(&T::clock_limits, "clock_limits",
        gpu_line(kFirst, LAB_TEXT("Clocks limited by"), text::clock_limits,
                 LAB_TEXT("Why the clocks are not higher, as reported by the driver.")));
  visit(&T::graphics_clock_mhz, "graphics_clock_mhz",
        gpu_line(kClocks, LAB_TEXT("Graphics clock"), text::clock<&F::graphics_clock_max_mhz>,
                 LAB_TEXT("Clock of the graphics units, current and maximum.")));
  visit(&T::memory_clock_mhz, "memory_clock_mhz",
        gpu_line(kClocks, LAB_TEXT("Memory clock"), text::clock<&F::memory_clock_max_mhz>));
  visit(&T::video_clock_mhz, "video_clock_mhz",
        gpu_line(kClocks, LAB_TEXT("Video clock"), text::clock<&F::video_clock_max_mhz>,
                 LAB_TEXT("Clock of the video encoder and decoder, current and maximum.")));
  visit(
      &T::memory_utilisation, "memory_utilisation",
      gpu_line(
          kLoad, LAB_TEXT("Memory controller"), text::share,
          LAB_TEXT("Share of the driver's last sample in which GPU memory was read or written. It "
                   "does not measure bandwidth.")));
  visit(&T::encoder_utilisation, "encoder_utilisation",
        gpu_line(kLoad, LAB_TEXT("Video encoder"), text::share,
                 LAB_TEXT("Share of time spent encoding.")));
  visit(&T::decoder_utilisation, "decoder_utilisation",
        gpu_line(kLoad, LAB_TEXT("Video decoder"), text::share,
                 LAB_TEXT("Share of time spent decoding.")));
  visit(&T::pcie, "pcie",
        gpu_line(kLoad, LAB_TEXT("Current PCIe link"), text::pcie_link,
                 LAB_TEXT("An idle GPU lowers its link speed to save power.")));
  visit(&T::pcie_received_bytes_per_s, "pcie_received_bytes_per_s",
        gpu_line(
            kLoad, LAB_TEXT("PCIe received"), text::bytes_per_second,
            LAB_TEXT(
                "Received by the GPU, averaged over 20 ms. The driver call takes that long, so it "
                "is made at most once every 5 s.")));
  visit(&T::pcie_sent_bytes_per_s, "pcie_sent_bytes_per_s",
        gpu_line(kLoad, LAB_TEXT("PCIe sent"), text::bytes_per_second,
                 LAB_TEXT("Sent by the GPU, averaged over 20 ms, read at most once every 5 s.")));
  visit(&T::performance_state, "performance_state",
        gpu_line(kState, LAB_TEXT("Performance state"), text::performance_state,
                 LAB_TEXT("P0 is the fastest, P15 the slowest.")));
  visit(&T::fan, "fan", gpu_line(kState, LAB_TEXT("Fan"), text::share));
  visit(&T::ecc_errors, "ecc_errors",
        gpu_line(kState, LAB_TEXT("ECC errors"), text::ecc_errors,
                 LAB_TEXT("Since the driver was loaded.")));
  visit(&T::persistence_mode, "persistence_mode",
        gpu_line(
            kState, LAB_TEXT("Persistence mode"), text::on_off,
            LAB_TEXT(
                "On: the driver stays loaded while no program uses the GPU, so that the next one "
                "starts faster.")));
  visit(&T::compute_mode, "compute_mode",
        gpu_line(
            kState, LAB_TEXT("Compute mode"), text::same,
            LAB_TEXT(
                "Number of processes that may compute on the GPU. Default: any number; exclusive "
                "process: one; prohibited: none.")));
  visit(
      &T::display_active, "display_active",
      gpu_line(kState, LAB_TEXT("Display"), text::active,
               LAB_TEXT("Active: the GPU holds a framebuffer, even if no monitor is connected.")));
  visit(&T::processes, "processes", NoGpuLine{});
}

}  // namespace lab
