#include "app/window/open_folder.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

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
  std::string folder = std::filesystem::absolute(file).parent_path().string();
  if (!is_on_path(kOpener)) {
    throw Error(Errc::Unsupported, trf("{} is not installed, so no file manager can be opened; "
                                       "the folder is {}",
                                       kOpener, folder));
  }
  // setsid ends as soon as it has started the program in a session of its own.
  std::string setsid = "setsid", fork = "--fork", opener = kOpener;
  const std::array<char*, 5> args{setsid.data(), fork.data(), opener.data(), folder.data(),
                                  nullptr};
  pid_t child = 0;
  int failed = ::posix_spawnp(&child, setsid.c_str(), nullptr, nullptr, args.data(), environ);
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
