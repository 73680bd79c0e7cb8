#include "compute/core/files/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/language.h"

namespace lab::files {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kNewFileMode = 0644;

[[noreturn]] void fail_read(const fs::path& path, int error) {
  throw Error(error == ENOENT ? Errc::NotFound : Errc::Io,
              trf("cannot read {}: {}: {}", path.string(), std::generic_category().message(error),
                  error == ENOENT ? tr("check the path") : tr("choose a file you may read")));
}

const char* way_out(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return tr("free some space or choose another path");
    case ENOENT: return tr("create the folder first or choose another path");
    case EACCES:
    case EPERM:
    case EROFS: return tr("choose a path you may write to");
    case EISDIR: return tr("name a file in it");
    default: return tr("choose another path");
  }
}

// Throws Error(Io) "cannot write PATH: REASON: FIX" for `error`, an errno value.
[[noreturn]] void fail_write(const fs::path& path, int error) {
  throw Error(Errc::Io, trf("cannot write {}: {}: {}", path.string(),
                            std::generic_category().message(error), way_out(error)));
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return tr("a folder");
  if (S_ISFIFO(mode)) return tr("a pipe");
  if (S_ISSOCK(mode)) return tr("a socket");
  return tr("a device");
}

void require_regular(const struct stat& status, const fs::path& path) {
  if (S_ISREG(status.st_mode)) return;
  throw Error(Errc::Io, trf("cannot read {}: it is {}, not a regular file: choose another "
                            "path",
                            path.string(), kind_of(status.st_mode)));
}

class FileHandle {
 public:
  explicit FileHandle(int fd) : fd_(fd) {}
  ~FileHandle() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileHandle(FileHandle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileHandle& operator=(FileHandle&&) = delete;
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // close() may be the first call to report a full disk.
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

// Reads into [data, data + size) and returns the number of bytes read, less than `size` only at the
// end of the file.
std::size_t read_up_to(int fd, std::uint8_t* data, std::size_t size, const fs::path& path) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(fd, data + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_read(path, errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void write_all(int fd, std::span<const std::byte> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_write(path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

// Destination of a write.
struct Target {
  fs::path file;               // symbolic links resolved, unless `special`
  std::optional<mode_t> mode;  // mode of the existing file
  bool special = false;        // exists and is not a regular file: written in place
};

// Resolves symbolic links in `file`; the result need not exist.
fs::path follow_links(fs::path file, const fs::path& path) {
  constexpr int kMaxLinks = 40;  // the kernel's limit
  std::error_code none;
  for (int i = 0; fs::is_symlink(fs::symlink_status(file, none)); ++i) {
    if (i == kMaxLinks) fail_write(path, ELOOP);
    std::error_code failed;
    const fs::path link = fs::read_symlink(file, failed);
    if (failed) fail_write(path, failed.value());
    file = file.parent_path() / link;
  }
  return file;
}

Target target_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail_write(path, errno);
    return {follow_links(path, path), {}, false};
  }
  if (S_ISDIR(status.st_mode)) fail_write(path, EISDIR);
  if (::access(path.c_str(), W_OK) != 0) fail_write(path, errno);
  if (!S_ISREG(status.st_mode)) return {path, {}, true};
  constexpr mode_t kPermissions = 07777;
  return {follow_links(path, path), status.st_mode & kPermissions, false};
}

// A temporary file in the target's folder, unlinked on destruction unless take_name() renamed it.
class FileBeside {
 public:
  FileBeside(Target target, const fs::path& path)
      : target_(std::move(target)), path_(path), file_(create()) {
    if (target_.mode && ::fchmod(file_.get(), *target_.mode) != 0) {
      const int error = errno;
      ::unlink(name_.c_str());
      fail_write(path_, error);
    }
  }
  ~FileBeside() {
    if (!renamed_) ::unlink(name_.c_str());
  }
  FileBeside(const FileBeside&) = delete;
  FileBeside& operator=(const FileBeside&) = delete;

  int get() const { return file_.get(); }

  void take_name() {
    if (::fsync(file_.get()) != 0 || file_.close() != 0) fail_write(path_, errno);
    if (::rename(name_.c_str(), target_.file.c_str()) != 0) fail_write(path_, errno);
    renamed_ = true;
    sync_folder_of(target_.file);
  }

 private:
  // Tries several names: another writer may be using the first ones, or a killed process may have
  // left them.
  FileHandle create() {
    constexpr int kMaxNames = 100;
    for (int i = 0; i < kMaxNames; ++i) {
      name_ = fmt::format("{}.{}-{}.part", target_.file.string(), ::getpid(), i);
      const int fd = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFileMode);
      if (fd >= 0) return FileHandle(fd);
      if (errno != EEXIST) break;
    }
    fail_write(path_, errno);
  }

  const Target target_;
  const fs::path path_;  // as given by the caller, for messages
  std::string name_;
  FileHandle file_;
  bool renamed_ = false;
};

}  // namespace

void require_regular(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) require_regular(status, path);
}

std::vector<std::uint8_t> read_file(const fs::path& path) {
  require_regular(path);  // before open(), which on a device may have side effects
  // O_NONBLOCK, in case the path has become a pipe since the check.
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) fail_read(path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_read(path, errno);
  require_regular(status, path);
  std::vector<std::uint8_t> bytes;
  // Files in /proc report size 0 and a file may grow, so read until read() returns nothing. One
  // extra byte detects the end of the file without another buffer.
  auto expected = static_cast<std::size_t>(status.st_size) + 1;
  constexpr std::size_t kMore = 4096;
  for (std::size_t done = 0;;) {
    bytes.resize(std::max(expected, done + kMore));
    done += read_up_to(file.get(), bytes.data() + done, bytes.size() - done, path);
    if (done < bytes.size()) {
      bytes.resize(done);
      return bytes;
    }
    expected = 2 * done;
  }
}

std::string read_text_file(const fs::path& path) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  Target target = target_of(path);
  if (target.special) {
    FileHandle file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) fail_write(path, errno);
    write_all(file.get(), bytes, path);
    if (file.close() != 0) fail_write(path, errno);
    return;
  }
  FileBeside file(std::move(target), path);
  write_all(file.get(), bytes, path);
  file.take_name();
}

void write_file(const fs::path& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text)));
}

void check_writable(const fs::path& path) {
  Target target = target_of(path);
  if (!target.special) const FileBeside file(std::move(target), path);
}

void sync_folder_of(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const FileHandle handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.is_open()) ::fsync(handle.get());
}

namespace {

constexpr std::string_view kEnding = ".part";

// Returns an unused name: a killed process with the same PID may have left the first ones.
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
  // Readers see either the old folder or the new one. The destructor removes the old one, which now
  // has the temporary name.
  if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) return;
  // Not every file system supports RENAME_EXCHANGE. With two renames the target is briefly absent.
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
  } catch (const std::exception&) {  // no memory for the name: the folder remains
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
