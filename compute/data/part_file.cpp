#include "compute/data/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"

namespace lab {

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) fail("opened for writing", errno);
  try {
    take();
  } catch (...) {
    ::close(fd_);
    throw;
  }
  ::lseek(fd_, 0, SEEK_END);
}

void PartFile::take() {
  struct stat opened {
  }, named{};
  if (::fstat(fd_, &opened) != 0) fail("opened for writing", errno);
  // A device has no content that two writers could mix up.
  if (S_ISREG(opened.st_mode)) {
    const bool locked = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK) fail("locked", errno);
    // Before the lock another download may have written on, or have given the file its final name.
    const bool ours = locked && ::fstat(fd_, &opened) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                      opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
    if (!ours) {
      throw Error(Errc::Io, path_.string() + " is being written by another download; let it end");
    }
  }
  size_ = opened.st_size;
}

PartFile::~PartFile() {
  ::close(fd_);
}

void PartFile::fail(const char* what, int reason) const {
  const char* way_out = reason == ENOSPC || reason == EDQUOT
                            ? "free some space or choose another directory with --dir"
                            : "choose a directory you may write to with --dir";
  throw Error(Errc::Io, fmt::format("{} cannot be {}: {}; {}", path_.string(), what,
                                    std::generic_category().message(reason), way_out));
}

void PartFile::append(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("written", errno);
    size_ += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void PartFile::truncate() {
  if (::ftruncate(fd_, 0) != 0) fail("emptied", errno);
  ::lseek(fd_, 0, SEEK_SET);
  size_ = 0;
}

void PartFile::finish(const std::filesystem::path& final_path) {
  if (::fsync(fd_) != 0) fail("written", errno);
  if (::rename(path_.c_str(), final_path.c_str()) != 0) {
    const int reason = errno;
    fail(fmt::format("renamed to {}", final_path.string()).c_str(), reason);
  }
  files::sync_folder_of(final_path);
}

}  // namespace lab
