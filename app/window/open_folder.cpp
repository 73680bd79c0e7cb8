#include "app/window/open_folder.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <system_error>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

constexpr const char* kOpener = "xdg-open";

bool is_on_path(const char* program) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): never modified
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

void open_folder_of(const std::filesystem::path& file) {
  std::error_code none;
  std::string folder = std::filesystem::absolute(file, none).parent_path().string();
  if (!is_on_path(kOpener)) {
    throw Error(Errc::Unsupported, trf("{} is not installed, so no file manager can be opened; "
                                       "the folder is {}",
                                       kOpener, folder));
  }
  // setsid ends as soon as it has started the program in a session of its own.
  std::string setsid = "setsid", fork = "--fork", opener = kOpener;
  const std::array<char*, 5> args{setsid.data(), fork.data(), opener.data(), folder.data(),
                                  nullptr};
  // The file manager outlives the lab: it must not keep the files that drivers leave open.
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  pid_t child = 0;
  int failed = ::posix_spawnp(&child, setsid.c_str(), &files, nullptr, args.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  int status = 0;
  while (failed == 0 && ::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) failed = errno;
  }
  if (failed != 0 || status != 0) {
    const std::string why =
        failed != 0 ? std::strerror(failed) : "setsid";  // NOLINT(concurrency-mt-unsafe)
    throw Error(Errc::Io, trf("{} cannot be started ({}); the folder is {}", kOpener, why, folder));
  }
}

}  // namespace lab::app
