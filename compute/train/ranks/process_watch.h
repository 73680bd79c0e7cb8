#pragma once
// Detects the death of other processes on this host. Launchers detect it as well and end the
// remaining processes, but do not report the reason to them.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace lab {

struct WatchedProcess {
  int rank = 0;
  int pid = 0;
};

class ProcessWatch {
 public:
  // Processes that are not visible from here (another container) are ignored. `root` replaces "/".
  explicit ProcessWatch(std::vector<WatchedProcess> processes, std::string root = "/");

  // Returns the first process that is gone or a zombie. Polls at most ten times per second; after
  // the first death the result stays the same.
  std::optional<WatchedProcess> dead();
  // Stops watching a rank that is about to exit normally.
  void dismiss(int rank);

 private:
  bool alive(const WatchedProcess& process) const;

  const std::string root_;
  std::vector<WatchedProcess> processes_;
  std::optional<WatchedProcess> dead_;
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace lab
