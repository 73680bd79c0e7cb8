#include "app/window/restart.h"

#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWakeGpus = "--wake-gpus";
constexpr const char* kWayOut = LAB_TEXT("close Device Lab and start it manually");

Error refusal(Errc code, const std::string& why) {
  return {code, trf("restart: {}; {}", why, tr(kWayOut))};
}

// Reads a file of zero-terminated strings.
std::vector<std::string> read_args(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::string> args;
  for (std::string word; std::getline(stream, word, '\0');) args.push_back(word);
  return args;
}

// The option takes no 0, so that one given earlier is removed.
void set_emulated_gpus(std::vector<std::string>& args, int gpus) {
  const std::string option = "--emulated-gpus";
  for (auto arg = args.begin(); arg != args.end();) {
    if (*arg != option && !arg->starts_with(option + "=")) {
      ++arg;
      continue;
    }
    const bool has_value = *arg == option && arg + 1 != args.end();
    arg = args.erase(arg, arg + (has_value ? 2 : 1));
  }
  if (gpus > 0) args.insert(args.end(), {option, std::to_string(gpus)});
}

}  // namespace

RestartPlan plan_restart(const RestartLab& request, const fs::path& self) {
  RestartPlan plan;
  plan.args = read_args(self / "cmdline");
  if (plan.args.empty()) {
    throw refusal(Errc::Unsupported,
                  trf("{} is empty or unreadable, so the command line is unknown",
                      (self / "cmdline").string()));
  }
  // If the program's file has been replaced, the link still leads to the running one.
  const fs::path link = self / "exe";
  std::error_code failed;
  const fs::path file = fs::read_symlink(link, failed);
  plan.file = !failed && fs::exists(file, failed) ? file.string() : link.string();
  if (::access(plan.file.c_str(), X_OK) != 0) {
    throw refusal(Errc::Unsupported, trf("{} cannot be run ({})", plan.file,
                                         std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
  }
  const auto& args = plan.args;
  if (request.wake_gpus && std::find(args.begin(), args.end(), kWakeGpus) == args.end()) {
    plan.args.emplace_back(kWakeGpus);
  }
  if (request.cpu_devices) {  // the last of several counts
    plan.args.insert(plan.args.end(), {"--cpu-devices", std::to_string(*request.cpu_devices)});
  }
  if (request.emulated_gpus) set_emulated_gpus(plan.args, *request.emulated_gpus);
  return plan;
}

void restart(const RestartPlan& plan, const Execute& execute) {
  std::vector<std::string> args = plan.args;
  std::vector<char*> ends;
  ends.reserve(args.size() + 1);
  for (std::string& word : args) ends.push_back(word.data());
  ends.push_back(nullptr);
  std::fflush(nullptr);
  // Drivers leave files open. Kernels before 5.11 reject this flag; the files then stay open,
  // unused.
  syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  execute ? execute(plan.file.c_str(), ends.data()) : ::execv(plan.file.c_str(), ends.data());
  throw refusal(Errc::Io, trf("{} cannot be started ({})", plan.file,
                              std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace lab::app
