#include "compute/data/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "compute/types/error.h"

namespace lab {

PartFile::PartFile(std::filesystem::path path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) fail("opened for writing", errno);
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(fd_);
    if (reason != EWOULDBLOCK) fail("locked", reason);
    throw Error(Errc::Io, path_.string() + " is being written by another download; let it end");
  }
  struct stat status {};
  if (::fstat(fd_, &status) == 0) size_ = status.st_size;
  ::lseek(fd_, 0, SEEK_END);
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
    fail(fmt::format("renamed to {}", final_path.string()).c_str(), errno);
  }
  // The new name is safe once its directory is on the disk too; a file system that cannot do
  // that has still renamed, so a failure here is none of the download.
  const int dir = ::open(final_path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    ::fsync(dir);
    ::close(dir);
  }
}

}  // namespace lab
