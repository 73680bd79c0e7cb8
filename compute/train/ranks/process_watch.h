#pragma once
// Notices that another process of this host has died. Launchers notice it too and end the others,
// but do not tell them why.
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
  // Those that cannot be seen from here (another container) are left out. `root` stands for "/".
  explicit ProcessWatch(std::vector<WatchedProcess> processes, std::string root = "/");

  // The first that is gone or a zombie; looks ten times a second at most, and from then on gives
  // the same answer.
  std::optional<WatchedProcess> dead();
  // It is about to end, as it should.
  void dismiss(int rank);

 private:
  bool alive(const WatchedProcess& process) const;

  const std::string root_;
  std::vector<WatchedProcess> processes_;
  std::optional<WatchedProcess> dead_;
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace lab
