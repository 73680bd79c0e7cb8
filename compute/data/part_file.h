#pragma once
// A download that is not complete yet: appended to, kept when the download stops, and renamed to
// its final name at the end.
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace lab {

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

}  // namespace lab
