#pragma once
// Device names. `cpu:0` is all cores and all main memory unless the cores are split into several
// devices.
#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

enum class DeviceKind { Cpu, Cuda };

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

// "cpu:0", "cuda:1".
std::string to_string(Device device);

// Accepts "cpu", "cpu:N", "cuda", "cuda:N", "gpu", "gpu:N"; throws Error(Usage) naming the text.
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
