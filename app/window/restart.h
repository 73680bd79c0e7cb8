#pragma once
// Restarts the program via execv; a lost CUDA context cannot be recovered otherwise.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "compute/core/events/command.h"

namespace lab::app {

struct RestartPlan {
  std::string file;               // the program
  std::vector<std::string> args;  // its arguments, argv[0] first
};

// Returns the running program and its arguments, with --wake-gpus added if `wake_gpus`, and
// --cpu-devices if a number of them is given. `self` replaces "/proc/self" in tests. Throws
// Error(Unsupported) if the system does not provide them or the program's file is not executable.
RestartPlan plan_restart(const RestartLab& request,
                         const std::filesystem::path& self = "/proc/self");

// Signature of execv(2), which is the default.
using Execute = std::function<int(const char* file, char* const* args)>;

// Replaces this process and closes all files other than the standard streams. All other threads end
// abruptly, so stop them first. Throws Error(Io) if the system call fails.
[[noreturn]] void restart(const RestartPlan& plan, const Execute& execute = nullptr);

}  // namespace lab::app
