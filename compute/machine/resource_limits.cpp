#include "compute/machine/resource_limits.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/machine/system_files.h"

namespace lab {
namespace {

struct GroupFolder {
  std::string path;  // holds the group's files
  int version = 2;   // of the cgroup interface, which determines the file names
};

// Appends the folders from the group up to the mount point.
void add_folders(std::vector<GroupFolder>& folders, const std::string& mount, std::string group,
                 int version) {
  while (true) {
    folders.push_back({mount + (group == "/" ? "" : group), version});
    const auto slash = group.rfind('/');
    if (group == "/" || slash == std::string::npos) return;
    group.erase(slash);
  }
}

// Returns the process's group under `controller` ("memory", "cpu") and its ancestors up to the
// mount point, each of which may set a limit.
std::vector<GroupFolder> group_folders(const std::string& root, std::string_view controller) {
  std::vector<GroupFolder> folders;
  const std::string text = read_text(root + "/proc/self/cgroup").value_or("");
  const std::string wanted = "," + std::string(controller) + ",";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);  // "4:cpu,cpuacct:/group"
    begin = end + 1;
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") add_folders(folders, root + "/sys/fs/cgroup", group, 2);
    if (controllers.find(wanted) != std::string::npos) {
      add_folders(folders, root + "/sys/fs/cgroup/" + std::string(controller), group, 1);
    }
  }
  return folders;
}

// Returns the CPU time in units of one processor; empty if unlimited.
std::optional<double> quota_of(const GroupFolder& folder) {
  std::optional<std::int64_t> quota_us, period_us;
  if (folder.version == 2) {
    // "150000 100000" or "max 100000".
    const std::string text = read_text(folder.path + "/cpu.max").value_or("");
    char* rest = nullptr;
    quota_us = std::strtoll(text.c_str(), &rest, 10);
    period_us = std::strtoll(rest, nullptr, 10);
  } else {
    quota_us = read_number(folder.path + "/cpu.cfs_quota_us");  // -1: no limit
    period_us = read_number(folder.path + "/cpu.cfs_period_us");
  }
  if (quota_us.value_or(0) <= 0 || period_us.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

struct GroupMemory {
  std::int64_t limit_bytes = 0;
  std::int64_t available_bytes = 0;
};

std::int64_t kib_field(const std::string& text, std::string_view key) {
  const auto value = find_field(text, key);
  return value ? std::strtoll(value->c_str(), nullptr, 10) * kKiB : 0;
}

// Returns the page cache that a group counts as used although the kernel reclaims it on demand.
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

// Returns the memory of whichever group, the process's own or an ancestor, has the least available.
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

struct AddressSpace {
  std::int64_t limit_bytes = 0;
  std::int64_t free_bytes = 0;
};

// Empty if the address space of the process is unlimited.
std::optional<AddressSpace> read_address_space(const std::string& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::int64_t mapped = read_number(root + "/proc/self/statm").value_or(0) * ::getpagesize();
  const auto bytes = static_cast<std::int64_t>(
      std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<std::int64_t>::max()));
  return AddressSpace{bytes, std::max<std::int64_t>(bytes - mapped, 0)};
}

}  // namespace

std::optional<double> read_cpu_quota(const std::string& root) {
  std::optional<double> tightest;
  for (const GroupFolder& folder : group_folders(root, "cpu")) {
    const auto quota = quota_of(folder);
    if (quota) tightest = std::min(tightest.value_or(*quota), *quota);
  }
  return tightest;
}

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
    info.limited_by = trf("cgroup limit of {}", format_bytes(group->limit_bytes));
    info.total_bytes = group->limit_bytes;
    info.available_bytes = std::min(info.available_bytes, group->available_bytes);
  }
  const auto space = read_address_space(root);
  if (space && space->free_bytes < info.available_bytes) {
    info.limited_by =
        trf("address space limit of {} (ulimit -v)", format_bytes(space->limit_bytes));
    info.available_bytes = space->free_bytes;
  }
  return info;
}

}  // namespace lab
