// Where data sets are looked for and written to.
// Source  XDG Base Directory Specification 0.8: a relative path counts as not set.
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "compute/data/dataset.h"
#include "compute/data/fetch.h"

namespace lab {
namespace fs = std::filesystem;
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody calls setenv
  return value != nullptr ? value : "";
}

fs::path home_dir() {
  if (fs::path home = variable("HOME"); home.is_absolute()) return home;
  const passwd* user = getpwuid(getuid());  // NOLINT(concurrency-mt-unsafe): one caller, once
  return user != nullptr ? fs::path(user->pw_dir) : fs::path("/");
}

}  // namespace

fs::path default_data_dir() {
  fs::path base = variable("XDG_DATA_HOME");
  if (!base.is_absolute()) base = home_dir() / ".local" / "share";
  return base / "device-lab" / "fashion-mnist";
}

std::vector<fs::path> data_dirs() {
  std::vector<fs::path> dirs;
  if (const fs::path chosen = variable("LAB_DATA_DIR"); !chosen.empty()) {
    // Either the directory of the files or the one that holds every data set.
    dirs.push_back(chosen);
    dirs.push_back(chosen / "fashion-mnist");
  }
  dirs.push_back(default_data_dir());
  dirs.push_back(fs::path("..") / "shared" / "data" / "fashion-mnist");
  return dirs;
}

}  // namespace lab
