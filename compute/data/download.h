#pragma once
// Gets one URL into a partial file, going on where an earlier attempt stopped.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace lab {

// A download that is not complete yet: appended to, kept when the download stops, and renamed to
// its final name at the end.
class PartFile {
 public:
  // Opens or creates `path`; throws Error(Io) when that fails or another process writes to it.
  explicit PartFile(std::filesystem::path path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::int64_t size() const { return size_; }

  // All throw Error(Io) with the reason and the way out.
  void append(std::span<const char> bytes);
  void truncate();
  // Makes the content last (fsync), then gives it its name, replacing what was there.
  void finish(const std::filesystem::path& final_path);

 private:
  // Keeps other writers out and learns the size.
  void take();
  [[noreturn]] void fail(const char* what, int reason) const;

  const std::filesystem::path path_;
  int fd_ = -1;
  std::int64_t size_ = 0;
};

struct DownloadOptions {
  std::int64_t max_bytes = 0;  // of the whole file; more is refused
  long connect_timeout_s = 15;
  long stall_timeout_s = 30;  // under 1 kB/s for so long: given up
};

// Appends the rest of `url` (http, https or file) to `part`, following redirects; a server that
// cannot resume sends everything again. What arrived stays in `part` when this throws.
// `progress(bytes, total)` counts what was there before; total is 0 while unknown; it may throw to
// stop. Throws Error(Network) naming the URL, Error(Io) for the file.
void download(const std::string& url, PartFile& part, const DownloadOptions& options,
              const std::function<void(std::int64_t, std::int64_t)>& progress);

}  // namespace lab
