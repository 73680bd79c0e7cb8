#pragma once
// Device names. `cpu:0` is all cores and all main memory unless the cores are split into several
// devices. `emu:0` is a GPU emulated by the CPU: results are correct, timings meaningless.
#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/core/fields/enum_names.h"

namespace lab {

enum class DeviceKind { Cpu, Cuda, Emulated };

struct Device {
  DeviceKind kind = DeviceKind::Cpu;
  int index = 0;
  auto operator<=>(const Device&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Shorthand as in Dive into Deep Learning: cpu(), gpu(), gpu(1).
inline Device cpu(int index = 0) {
  return {DeviceKind::Cpu, index};
}
inline Device gpu(int index = 0) {
  return {DeviceKind::Cuda, index};
}

inline Device emulated_gpu(int index = 0) {
  return {DeviceKind::Emulated, index};
}

inline constexpr int kMaxEmulatedGpus = 16;

// Whether the device is a GPU, real or emulated.
inline bool is_gpu(Device device) {
  return device.kind != DeviceKind::Cpu;
}
// Whether a time measured on the device says something about hardware.
inline bool is_timed(Device device) {
  return device.kind != DeviceKind::Emulated;
}
inline constexpr const char* kEmulatedGpu = LAB_TEXT("emulated: correct results; never timed");
// The reason for skipping a measurement where is_timed() is false.
inline constexpr const char* kNeverTimed = LAB_TEXT("emulated: never timed");
// Throws Error(Usage) naming `work` if `devices` lists devices, none of which is timed.
void require_timed(const char* work, const std::vector<Device>& devices);

// "cpu:0", "cuda:1", "emu:0".
std::string to_string(Device device);

// Accepts "cpu", "cpu:N", "cuda", "cuda:N", "gpu", "gpu:N", "emu", "emu:N"; throws Error(Usage)
// naming the text.
Device parse_device(std::string_view text);

// Parses a comma-separated list of device names. Throws Error(Usage) for an empty item or a
// duplicate device.
std::vector<Device> parse_devices(std::string_view text);

}  // namespace lab

template <>
struct std::hash<lab::Device> {
  std::size_t operator()(lab::Device d) const noexcept {
    return static_cast<std::size_t>(d.kind) * 1024 + static_cast<std::size_t>(d.index);
  }
};
