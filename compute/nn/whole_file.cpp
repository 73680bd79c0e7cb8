#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "compute/nn/safetensors.h"
#include "compute/types/error.h"

namespace lab::nn {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path, int error) {
  throw Error(
      error == ENOENT && std::string_view(what) == "read" ? Errc::NotFound : Errc::Io,
      fmt::format("cannot {} {}: {}", what, path.string(), std::generic_category().message(error)));
}

class FileHandle {
 public:
  explicit FileHandle(int fd) : fd_(fd) {}
  ~FileHandle() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  int get() const { return fd_; }
  // What close says: a full disk may show only here.
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

// A new file in the same directory; gone with its owner unless it was renamed.
class FileBeside {
 public:
  explicit FileBeside(const std::filesystem::path& path)
      : target_(path), name_(path.string() + ".XXXXXX"), file_(::mkstemp(name_.data())) {
    if (file_.get() < 0) fail("write", target_, errno);
  }
  ~FileBeside() {
    if (!renamed_) ::unlink(name_.c_str());
  }
  FileBeside(const FileBeside&) = delete;
  FileBeside& operator=(const FileBeside&) = delete;

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail("write", target_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

  void rename() {
    constexpr mode_t kReadable = 0644;
    ::fchmod(file_.get(), kReadable);
    if (::fsync(file_.get()) != 0 || file_.close() != 0) fail("write", target_, errno);
    if (::rename(name_.c_str(), target_.c_str()) != 0) fail("write", target_, errno);
    renamed_ = true;
  }

 private:
  const std::filesystem::path target_;
  std::string name_;
  FileHandle file_;
  bool renamed_ = false;
};

void refuse_directory(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("write", path, EISDIR);
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("read", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail("read", path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(Errc::Io, fmt::format("cannot read {}: it is not a file", path.string()));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read", path, errno);
    if (n == 0) break;  // it shrank meanwhile
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  refuse_directory(path);
  FileBeside file(path);
  file.write(bytes);
  file.rename();
}

void check_writable(const std::filesystem::path& path) {
  refuse_directory(path);
  const FileBeside file(path);
}

}  // namespace lab::nn
