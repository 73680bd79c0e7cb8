#include "compute/core/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab {

namespace {

const char* name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::Cpu: break;
    case DeviceKind::Cuda: return "cuda";
    case DeviceKind::Emulated: return "emu";
  }
  return "cpu";
}

}  // namespace

void require_timed(const char* work, const std::vector<Device>& devices) {
  if (devices.empty() || std::any_of(devices.begin(), devices.end(), is_timed)) return;
  throw Error(Errc::Usage, trf("{}: {} is an emulated GPU, which is never timed; name a CPU or an "
                               "NVIDIA GPU",
                               work, to_string(devices.front())));
}

std::string to_string(Device device) {
  return fmt::format("{}:{}", name_of(device.kind), device.index);
}

Device parse_device(std::string_view text) {
  const auto fail = [text]() -> Device {
    throw Error(Errc::Usage, trf("unknown device '{}'; use cpu:0, cpu:1, cuda:0, emu:0, ...", text));
  };
  const auto colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  Device device;
  if (kind == "cuda" || kind == "gpu") {
    device.kind = DeviceKind::Cuda;
  } else if (kind == "emu") {
    device.kind = DeviceKind::Emulated;
  } else if (kind != "cpu") {
    return fail();
  }
  if (colon == std::string_view::npos) return device;
  const std::string_view digits = text.substr(colon + 1);
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, device.index);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end || device.index < 0) {
    return fail();
  }
  return device;
}

std::vector<Device> parse_devices(std::string_view text) {
  std::vector<Device> devices;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const Device device = parse_device(text.substr(begin, end - begin));
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      throw Error(Errc::Usage, trf("device {} is named twice in '{}'; name each one once",
                                   to_string(device), text));
    }
    devices.push_back(device);
    begin = end + 1;
  }
  return devices;
}

}  // namespace lab
