// Source  XDG Base Directory Specification 0.8: a relative path counts as unset.
#include "compute/core/files/places.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <system_error>

namespace lab::files {
namespace {

namespace fs = std::filesystem;

fs::path folder_from_env(const char* variable) {
  const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): setenv not called
  const fs::path folder = value != nullptr ? value : "";
  return folder.is_absolute() ? folder : fs::path();
}

fs::path home_folder() {
  if (fs::path home = folder_from_env("HOME"); !home.empty()) return home;
  constexpr std::size_t kEntryBytes = 16384;
  std::array<char, kEntryBytes> texts{};
  passwd user{};
  passwd* found = nullptr;  // remains null if the user is unknown or the entry exceeds the buffer
  getpwuid_r(getuid(), &user, texts.data(), texts.size(), &found);
  return found != nullptr ? fs::path(user.pw_dir) : fs::path("/");
}

}  // namespace

fs::path user_data_folder() {
  fs::path base = folder_from_env("XDG_DATA_HOME");
  if (base.empty()) base = home_folder() / ".local" / "share";
  return base / "device-lab";
}

std::vector<fs::path> asset_folders(std::string_view kind) {
  std::vector<fs::path> folders{user_data_folder() / kind};
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed).parent_path();
  if (failed) return folders;
  folders.push_back(program.parent_path() / "share" / "device-lab" / kind);
  folders.push_back(program.parent_path().parent_path() / "assets" / kind);
  return folders;
}

fs::path find_asset(const fs::path& file, const std::vector<fs::path>& folders) {
  std::error_code ignored;
  if (file.has_parent_path() || fs::exists(file, ignored)) return file;
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / file, ignored)) return folder / file;
  }
  return file;
}

}  // namespace lab::files
