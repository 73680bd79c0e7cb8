#pragma once
// Reads and writes whole files and folders. Writes are atomic: a failed write leaves the old
// content.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lab::files {

// All functions throw Error(Io), or NotFound if there is nothing to read. The message is one
// sentence with the operation, the path, the reason and the fix: "cannot write /x/a.csv: No space
// left on device: free some space or choose another path".

// Throws if `path` exists and is not a regular file: reading a pipe or a device may block or never
// end.
void require_regular(const std::filesystem::path& path);

// Reads a regular file; throws as require_regular() does.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path);
std::string read_text_file(const std::filesystem::path& path);

// Writes a temporary file next to `path`, flushes it to disk, then renames it, so that the old
// content survives any failure. A symbolic link is followed, not replaced. An existing file keeps
// its mode; a new file gets 0644 less the umask. Anything that is not a regular file (a pipe, a
// terminal, /dev/null) is written in place.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

// Throws if write_file() could not begin to write `path`; leaves the file unchanged.
void check_writable(const std::filesystem::path& path);

// Makes renames in the folder of `path` durable. Ignores errors: the renames are visible even if
// the file system cannot sync them.
void sync_folder_of(const std::filesystem::path& path);

// ---- Folders, for one writing process at a time

// A folder that is filled under a temporary name, NAME.PID-N.part, and then renamed to its target.
class PartFolder {
 public:
  // Creates the temporary folder next to `target`, whose parent must exist. Throws Error(Io) as
  // write_file() does.
  explicit PartFolder(std::filesystem::path target);
  // Removes the temporary folder unless take_name() renamed it.
  ~PartFolder();
  PartFolder(const PartFolder&) = delete;
  PartFolder& operator=(const PartFolder&) = delete;

  // The temporary folder, into which the caller writes the files with write_file(), which flushes
  // them to disk.
  const std::filesystem::path& path() const { return part_; }

  // Renames the folder to the target, replacing an existing one. Throws Error(Io).
  void take_name();

 private:
  void replace();

  const std::filesystem::path target_, part_;
};

// Creates a folder and its missing parents. Throws Error(Io) as write_file() does.
void make_folder(const std::filesystem::path& folder);

// Removes a folder, renaming it first so that readers no longer find it even if the removal is slow
// or fails midway. Ignores errors.
void remove_folder(const std::filesystem::path& folder) noexcept;

// Returns the target's name if `folder` is a temporary folder left by a killed process (from
// PartFolder or remove_folder()), otherwise an empty string.
std::string part_target(const std::filesystem::path& folder);

}  // namespace lab::files
