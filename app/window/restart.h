#pragma once
// The program starts itself anew in the same process, since a lost GPU works again in a fresh one
// only.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lab::app {

struct RestartPlan {
  std::string file;                // the program
  std::vector<std::string> words;  // those it was started with, its name first
};

// What runs now, with the words it was started with; --wake-GPUs is added where `wake_gpus` asks
// for it. `self` stands for "/proc/self" in tests. Throws Error(Unsupported) where the system does
// not tell them or the program's file may not be run.
RestartPlan plan_restart(bool wake_gpus, const std::filesystem::path& self = "/proc/self");

// As execv(2), which is used where none is given.
using Execute = std::function<int(const char* file, char* const* words)>;

// Replaces this process; files that are open beyond standard error are closed. All threads end
// where they stand, so stop them before. Throws Error(Io) where the system refuses.
[[noreturn]] void restart(const RestartPlan& plan, const Execute& execute = nullptr);

}  // namespace lab::app
