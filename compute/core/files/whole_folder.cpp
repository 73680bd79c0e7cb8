#include "compute/core/files/whole_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "compute/core/files/whole_file.h"
#include "compute/core/files/write_error.h"

namespace lab::files {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".part";

// A name that is free: a killed process of the same number may have left the first ones.
fs::path free_part_name(const fs::path& target) {
  for (int i = 0;; ++i) {
    fs::path name = fmt::format("{}.{}-{}{}", target.string(), ::getpid(), i, kEnding);
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(name, ignored))) return name;
  }
}

void remove_quietly(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace

PartFolder::PartFolder(fs::path target)
    : target_(std::move(target)), part_(free_part_name(target_)) {
  std::error_code failed;
  fs::create_directory(part_, failed);
  if (failed) fail_write(target_, failed.value());
}

PartFolder::~PartFolder() {
  remove_quietly(part_);
}

void PartFolder::take_name() {
  if (::rename(part_.c_str(), target_.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) fail_write(target_, errno);
    replace();
  }
  sync_folder_of(target_);
}

void PartFolder::replace() {
  // Readers see the old one or the new one. The destructor removes the old one.
  if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) return;
  // Not every file system can exchange. For a moment there is neither.
  const fs::path old = free_part_name(target_);
  if (::rename(target_.c_str(), old.c_str()) != 0 ||
      ::rename(part_.c_str(), target_.c_str()) != 0) {
    fail_write(target_, errno);
  }
  remove_quietly(old);
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) fail_write(folder, failed.value());
  if (!fs::is_directory(folder, failed)) fail_write(folder, ENOTDIR);
}

void remove_folder(const fs::path& folder) noexcept {
  try {
    const fs::path part = free_part_name(folder);
    std::error_code failed;
    fs::rename(folder, part, failed);
    remove_quietly(failed ? folder : part);
  } catch (const std::exception&) {  // no memory for a name: the folder stays
  }
}

std::string part_target(const fs::path& folder) {
  std::string name = folder.filename().string();
  if (!std::string_view(name).ends_with(kEnding)) return {};
  name.resize(name.size() - kEnding.size());
  const auto point = name.rfind('.');
  if (point == std::string::npos || point + 1 == name.size()) return {};
  const bool number = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(point) + 1, name.end(),
                                  [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
  return number ? name.substr(0, point) : std::string();
}

}  // namespace lab::files
