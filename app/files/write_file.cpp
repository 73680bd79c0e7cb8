#include "app/files/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "compute/types/error.h"

namespace lab::app {
namespace {

namespace fs = std::filesystem;

class File {
 public:
  File(const fs::path& path, int flags)
      : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // Some file systems report a full disk only here.
  bool close() {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result == 0;
  }

 private:
  int descriptor_;
};

bool write_all(const fs::path& path, int flags, std::string_view content) {
  File file(path, flags);
  return file.is_open() && file.write(content) && file.close();
}

}  // namespace

void write_file(const fs::path& file, std::string_view content, std::string_view what) {
  const auto fail = [&](int error) {
    throw Error(Errc::Io, fmt::format("{}: {} cannot be written: {}; name a file in a folder that "
                                      "can be written and has room",
                                      what, file.string(), std::strerror(error)));
  };
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  if (fs::is_directory(status)) fail(EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (!write_all(file, O_WRONLY, content)) fail(errno);
    return;
  }
  fs::path beside = file;
  beside += fmt::format(".{}.part", getpid());
  if (!write_all(beside, O_WRONLY | O_CREAT | O_TRUNC, content)) {
    const int error = errno;
    fs::remove(beside, ignored);
    fail(error);
  }
  std::error_code renamed;
  fs::rename(beside, file, renamed);
  if (renamed) {
    fs::remove(beside, ignored);
    fail(renamed.value());
  }
}

std::string read_file(const fs::path& file, std::string_view what) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    throw Error(Errc::NotFound, fmt::format("{}: {} does not exist", what, file.string()));
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  if (!fs::is_directory(file, ignored) && stream) content << stream.rdbuf();
  if (fs::is_directory(file, ignored) || !stream || stream.bad()) {
    throw Error(Errc::Io, fmt::format("{}: {} cannot be read", what, file.string()));
  }
  return content.str();
}

}  // namespace lab::app
