#include "compute/train/ranks/process_watch.h"

#include <algorithm>
#include <utility>

#include "compute/machine/system_files.h"

namespace lab {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

ProcessWatch::ProcessWatch(std::vector<WatchedProcess> processes, std::string root)
    : root_(std::move(root)), processes_(std::move(processes)) {
  std::erase_if(processes_, [this](const WatchedProcess& p) { return !alive(p); });
}

std::optional<WatchedProcess> ProcessWatch::dead() {
  const auto now = std::chrono::steady_clock::now();
  if (dead_ || now < next_look_) return dead_;
  next_look_ = now + kInterval;
  const auto found = std::find_if(processes_.begin(), processes_.end(),
                                  [this](const WatchedProcess& p) { return !alive(p); });
  if (found != processes_.end()) dead_ = *found;
  return dead_;
}

void ProcessWatch::dismiss(int rank) {
  std::erase_if(processes_, [rank](const WatchedProcess& p) { return p.rank == rank; });
}

// /proc/PID/stat is "PID (name) STATE ..."; the name may contain any character.
bool ProcessWatch::alive(const WatchedProcess& process) const {
  const auto stat = read_text(root_ + "proc/" + std::to_string(process.pid) + "/stat");
  if (!stat) return false;
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat->size()) return false;
  const char state = (*stat)[name_end + 2];
  return state != 'Z' && state != 'X';
}

}  // namespace lab
