#include "compute/machine/memory_info.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "compute/core/units.h"
#include "compute/machine/control_group.h"
#include "compute/machine/system_files.h"

namespace lab {
namespace {

struct GroupMemory {
  std::int64_t limit_bytes = 0;
  std::int64_t available_bytes = 0;
};

std::int64_t kib_field(const std::string& text, std::string_view key) {
  const auto value = find_field(text, key);
  return value ? std::strtoll(value->c_str(), nullptr, 10) * kKiB : 0;
}

// Page cache that the kernel gives back on demand counts as used in a group; it is not.
std::int64_t reclaimable_bytes(const std::string& folder, std::string_view key) {
  const auto stat = read_text(folder + "/memory.stat");
  if (!stat) return 0;
  const std::string wanted = std::string(key) + ' ';
  const auto at = stat->rfind('\n' + wanted);
  const char* number = nullptr;
  if (at != std::string::npos) number = stat->c_str() + at + 1 + wanted.size();
  if (stat->rfind(wanted, 0) == 0) number = stat->c_str() + wanted.size();
  return number ? std::strtoll(number, nullptr, 10) : 0;
}

struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;
};
constexpr GroupFiles kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles kVersion2{"/memory.max", "/memory.current", "inactive_file"};

// The tightest limit of all groups around the process.
std::optional<GroupMemory> read_group(const std::string& root) {
  std::optional<GroupMemory> found;
  for (const GroupFolder& folder : group_folders(root, "memory")) {
    const GroupFiles& files = folder.version == 1 ? kVersion1 : kVersion2;
    const auto limit = read_number(folder.path + files.limit);
    if (!limit) continue;
    const std::int64_t used = read_number(folder.path + files.usage).value_or(0) -
                              reclaimable_bytes(folder.path, files.reclaimable);
    const GroupMemory here{*limit,
                           std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(used, 0))};
    if (!found || here.available_bytes < found->available_bytes) found = here;
  }
  return found;
}

}  // namespace

MemoryInfo read_memory(const std::string& root) {
  MemoryInfo info;
  const std::string text = read_text(root + "/proc/meminfo").value_or("");
  info.total_bytes = kib_field(text, "MemTotal");
  info.available_bytes = kib_field(text, "MemAvailable");
  if (info.available_bytes == 0) info.available_bytes = kib_field(text, "MemFree");
  struct sysinfo system {};
  if (info.total_bytes == 0 && ::sysinfo(&system) == 0) {
    const std::int64_t unit = system.mem_unit;
    info.total_bytes = static_cast<std::int64_t>(system.totalram) * unit;
    info.available_bytes = static_cast<std::int64_t>(system.freeram + system.bufferram) * unit;
  }
  const auto group = read_group(root);
  if (group && group->limit_bytes < info.total_bytes) {
    info.limited_by = "cgroup limit of " + format_bytes(group->limit_bytes);
    info.available_bytes = std::min(info.available_bytes, group->available_bytes);
  }
  return info;
}

}  // namespace lab
