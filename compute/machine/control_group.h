#pragma once
// What limits the control groups (cgroup v1 or v2) of this process set: how a container is kept
// from using the whole machine. `root` stands for "/" in tests.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

struct GroupFolder {
  std::string path;  // holds the group's files
  int version = 2;   // of the interface, which names the files
};

// The process's group under `controller` ("memory", "cpu") and those around it, up to the mount
// point: each of them may set a limit.
std::vector<GroupFolder> group_folders(const std::string& root, std::string_view controller);

// How many processors' worth of time the tightest group grants, 1.5 for 150 ms in each 100 ms;
// empty where there is no such quota.
std::optional<double> read_cpu_quota(const std::string& root = "/");

}  // namespace lab
