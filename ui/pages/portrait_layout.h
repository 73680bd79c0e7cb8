#pragma once
// Cores and caches of the whole machine, and their places in its picture. For use inside ui/pages
// only.
#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/core/events/device_info.h"
#include "ui/ui.h"

namespace lab::ui {

inline constexpr float kPortraitPad = 6, kPortraitLabel = 19;  // around and above what a box holds

struct PortraitCore {
  const DeviceInfo* device = nullptr;
  std::size_t at = 0;  // position in DeviceInfo::cores
  int number = 0;      // as numbered by the operating system
  int package = 0;
  const CoreKind* kind = nullptr;  // null if all cores are alike
};
struct PortraitCache {
  int level = 0;
  std::int64_t bytes = 0;
  std::vector<int> cores;  // positions in Silicon::cores
};

// The cores of all CPU devices, each once, and the caches above them, which devices may share.
struct Silicon {
  std::vector<PortraitCore> cores;
  std::vector<PortraitCache> caches;
};

// Points into `devices`, which must outlive the result.
Silicon silicon_of(std::span<const DeviceInfo> devices);

// A package, a cache with what it serves, or a core.
struct PortraitBox {
  int core = -1;           // position in Silicon::cores; -1: a package or a cache
  std::string label = {};  // "L3 32.0 MiB"
  std::string hint = {};
  ImVec2 pos{0, 0}, size{0, 0};  // pixels, relative to the enclosing box
  std::vector<PortraitBox> inner = {};
};

// Returns the packages, which fill `width` pixels. With few cores these are wide bars; with many,
// small squares, and the caches of a single core are left out.
std::vector<PortraitBox> lay_out(const Ui& ui, const Silicon& silicon, float width);

}  // namespace lab::ui
