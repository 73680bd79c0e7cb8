#include "compute/core/files/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/files/write_error.h"

namespace lab::files {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kNewFileMode = 0644;

[[noreturn]] void fail_read(const fs::path& path, int error) {
  throw Error(
      error == ENOENT ? Errc::NotFound : Errc::Io,
      fmt::format("cannot read {}: {}: {}", path.string(), std::generic_category().message(error),
                  error == ENOENT ? "check the path" : "choose a file you may read"));
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

void require_regular(const struct stat& status, const fs::path& path) {
  if (S_ISREG(status.st_mode)) return;
  throw Error(Errc::Io, fmt::format("cannot read {}: it is {}, not a regular file: choose another "
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
  // A full disk may show only here.
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

// Bytes in [data, data + size) that were read; less than `size` only at the end of the file.
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

// Where the bytes of `path` go.
struct Target {
  fs::path file;               // with symbolic links followed, unless `special`
  std::optional<mode_t> mode;  // of the file that is there
  bool special = false;        // there, and no regular file: not to be replaced
};

// The file that a symbolic link leads to, whether it is there or not.
fs::path follow_links(fs::path file, const fs::path& path) {
  constexpr int kMostLinks = 40;  // as the kernel allows
  std::error_code none;
  for (int i = 0; fs::is_symlink(fs::symlink_status(file, none)); ++i) {
    if (i == kMostLinks) fail_write(path, ELOOP);
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

// A new file in the target's folder; gone with its owner unless it took the target's name.
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
  // Another writer, or what a killed one left, may have the first names.
  FileHandle create() {
    constexpr int kMostNames = 100;
    for (int i = 0; i < kMostNames; ++i) {
      name_ = fmt::format("{}.{}-{}.part", target_.file.string(), ::getpid(), i);
      const int fd = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFileMode);
      if (fd >= 0) return FileHandle(fd);
      if (errno != EEXIST) break;
    }
    fail_write(path_, errno);
  }

  const Target target_;
  const fs::path path_;  // as it was given, for messages
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
  require_regular(path);  // before it is opened: to open a device may already do something
  // Not blocking, in case the path has become a pipe since.
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) fail_read(path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_read(path, errno);
  require_regular(status, path);
  std::vector<std::uint8_t> bytes;
  // Files of /proc say nothing of their size, and a file may grow: read on until nothing comes.
  // One byte more than expected shows the end of the file without another buffer.
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

}  // namespace lab::files
