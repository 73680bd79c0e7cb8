#include "compute/machine/control_group.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "compute/machine/system_files.h"

namespace lab {
namespace {

// From the group up to the mount point.
void add_folders(std::vector<GroupFolder>& folders, const std::string& mount, std::string group,
                 int version) {
  while (true) {
    folders.push_back({mount + (group == "/" ? "" : group), version});
    const auto slash = group.rfind('/');
    if (group == "/" || slash == std::string::npos) return;
    group.erase(slash);
  }
}

// Processors' worth of time; empty for no limit.
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

}  // namespace

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

std::optional<double> read_cpu_quota(const std::string& root) {
  std::optional<double> tightest;
  for (const GroupFolder& folder : group_folders(root, "cpu")) {
    const auto quota = quota_of(folder);
    if (quota) tightest = std::min(tightest.value_or(*quota), *quota);
  }
  return tightest;
}

}  // namespace lab
