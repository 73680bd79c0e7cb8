#include "compute/core/events/core_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/core/language.h"

namespace lab {
namespace {

std::string clock_text(double mhz) {
  return fmt::format("{:.1f} GHz", mhz / 1000);
}

// "2 performance".
std::string counted_kind(const CoreKind& kind) {
  const std::size_t cores = kind.cores.size();
  if (kind.name == "performance") return trf("{} performance", cores);
  if (kind.name == "medium") return trf("{} medium", cores);
  if (kind.name == "efficient") return trf("{} efficient", cores);
  return trf("{} of kind {}", cores, kind.number + 1);
}

std::string kind_text(const CoreKind& kind) {
  std::string counted = counted_kind(kind);
  if (kind.clock_max_mhz) return trf("{} (up to {})", counted, clock_text(*kind.clock_max_mhz));
  if (kind.clock_base_mhz) {
    return trf("{} (base clock {})", counted, clock_text(*kind.clock_base_mhz));
  }
  if (kind.capacity) return trf("{} (capacity {})", counted, *kind.capacity);
  return counted;
}

}  // namespace

std::string core_kind_text(const CoreKind& kind) {
  const std::string name = kind.name == "performance" ? std::string(tr("performance core"))
                           : kind.name == "medium"    ? std::string(tr("medium core"))
                           : kind.name == "efficient" ? std::string(tr("efficient core"))
                                                      : trf("core of kind {}", kind.number + 1);
  return kind.clock_max_mhz ? trf("{}, up to {}", name, clock_text(*kind.clock_max_mhz)) : name;
}

std::string core_kinds_text(const DeviceInfo& info) {
  std::string text;
  for (const CoreKind& kind : info.core_kinds) {
    if (!text.empty()) text += ", ";
    text += kind_text(kind);
  }
  return text;
}

std::string cores_text(const DeviceInfo& info) {
  const std::size_t n = info.cores.size();
  const std::string count = n == 1 ? std::string(tr("1 core")) : trf("{} cores", n);
  return info.core_kinds.empty() ? count : fmt::format("{}: {}", count, core_kinds_text(info));
}

bool have_unequal_cores(const DeviceInfo& a, const DeviceInfo& b) {
  return !std::ranges::equal(a.core_kinds, b.core_kinds, [](const CoreKind& x, const CoreKind& y) {
    return x.number == y.number;
  });
}

}  // namespace lab
