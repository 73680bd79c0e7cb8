#pragma once
// Downloads one URL into a partial file, resuming an earlier attempt.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace lab {

// An incomplete download: appended to, kept when the download stops, and renamed to its final name
// at the end.
class PartFile {
 public:
  // Opens or creates `path`. Throws Error(Io) if that fails or if another process is writing to it.
  explicit PartFile(std::filesystem::path path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::int64_t size() const { return size_; }

  // All throw Error(Io) with the reason and a fix.
  void append(std::span<const char> bytes);
  void truncate();
  // Flushes the content to disk (fsync), then renames the file, replacing an existing one.
  void finish(const std::filesystem::path& final_path);

 private:
  // Locks out other writers and reads the size.
  void take();
  [[noreturn]] void fail(const std::string& what, int reason) const;

  const std::filesystem::path path_;
  int fd_ = -1;
  std::int64_t size_ = 0;
};

struct DownloadOptions {
  std::int64_t max_bytes = 0;  // of the whole file; a larger one is rejected
  long connect_timeout_s = 15;
  long stall_timeout_s = 30;  // abort after this time below 1 kB/s
};

// Appends the rest of `url` (http, https or file) to `part`, following redirects; starts over if
// the server cannot resume. On an error, `part` keeps the bytes received. `progress(bytes, total)`
// includes bytes of earlier attempts; total is 0 while unknown; it may throw to stop. Throws
// Error(Network) naming the URL, Error(Io) for the file.
void download(const std::string& url, PartFile& part, const DownloadOptions& options,
              const std::function<void(std::int64_t, std::int64_t)>& progress);

}  // namespace lab
