#include "compute/gpu/nvml/nvml_text.h"

#include <fmt/format.h>

#include <array>

#include "compute/core/language.h"

namespace lab::nvml {
namespace {

struct ClockLimit {
  unsigned long long bit;
  const char* text;
};

constexpr std::array<ClockLimit, 9> kClockLimits = {{
    {0x40, LAB_TEXT("heat, slowed by the hardware")},
    {0x80, LAB_TEXT("power brake, pulled by the machine's power supply")},
    {0x08, LAB_TEXT("hardware slowdown for heat or power")},
    {0x20, LAB_TEXT("heat, slowed by the driver")},
    {0x04, LAB_TEXT("power limit")},
    {0x10, LAB_TEXT("sync boost: it keeps pace with other GPUs")},
    {0x02, LAB_TEXT("clock limit set by a user")},
    {0x100, LAB_TEXT("display clock setting")},
    {0x01, LAB_TEXT("idle: no work")},
}};

}  // namespace

std::string architecture_name(unsigned number) {
  switch (number) {
    case 2: return "Kepler";
    case 3: return "Maxwell";
    case 4: return "Pascal";
    case 5: return "Volta";
    case 6: return "Turing";
    case 7: return "Ampere";
    case 8: return "Ada Lovelace";
    case 9: return "Hopper";
    case 10: return "Blackwell";
    default: return {};
  }
}

std::string compute_mode_name(unsigned number) {
  constexpr std::array<const char*, 4> kModes = {LAB_TEXT("default"), LAB_TEXT("exclusive thread"),
                                                 LAB_TEXT("prohibited"),
                                                 LAB_TEXT("exclusive process")};
  return number < kModes.size() ? kModes[number] : std::string();
}

Maybe<std::string> named(const Maybe<unsigned>& number, std::string (*name)(unsigned)) {
  if (!number) return Maybe<std::string>::missing(number.reason());
  std::string known = name(*number);
  if (known.empty()) {
    return Maybe<std::string>::missing(trf("unknown value {}", *number));
  }
  return known;
}

int cores_per_sm(int major, int minor) {
  switch (major) {
    case 3: return 192;
    case 5: return 128;
    case 6: return minor == 0 ? 64 : 128;
    case 7: return 64;
    case 8: return minor == 0 ? 64 : 128;
    case 9:
    case 10:
    case 11:
    case 12: return 128;
    default: return 0;
  }
}

std::string nvlink_version(unsigned number) {
  constexpr std::array<const char*, 9> kVersions = {"",    "1.0", "2.0", "2.2", "3.0",
                                                    "3.1", "4.0", "5.0", "6.0"};
  return number < kVersions.size() ? kVersions[number] : std::string();
}

std::vector<std::string> clock_limits(unsigned long long bits) {
  std::vector<std::string> words;
  for (const ClockLimit& limit : kClockLimits) {
    if ((bits & limit.bit) != 0) words.emplace_back(limit.text);
    bits &= ~limit.bit;
  }
  if (bits != 0) words.push_back(trf("unknown reason {:#x}", bits));
  return words;
}

PeerAccess peer_access(unsigned status) {
  switch (status) {
    case 0: return {true, {}};
    case 1: return {false, tr("the machine's chipset does not support it")};
    case 2: return {false, tr("one of the GPUs does not support it")};
    case 3: return {false, tr("the GPUs are on different I/O hubs that do not forward it")};
    case 4: return {false, tr("it is disabled by a driver setting")};
    case 5: return {false, tr("this pair of GPUs does not support it")};
    default: return {false, tr("the driver reports no reason")};
  }
}

std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

}  // namespace lab::nvml
