#pragma once
// Whole files and folders: read at once, and written so that they are there whole or not at all.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lab::files {

// All functions throw Error(Io), and NotFound where there is nothing to read, in one sentence with
// the operation, the path, the reason and the way out: "cannot write /x/a.csv: No space left on
// device: free some space or choose another path".

// Refuses what is there and is not a regular file: a pipe or a device may block or never end.
void require_regular(const std::filesystem::path& path);

// The bytes of a regular file, as require_regular() lets it.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path);
std::string read_text_file(const std::filesystem::path& path);

// Writes beside `path`, waits until the disk has it, then renames: whatever goes wrong, the old
// content survives. A symbolic link stays one, and so does an older file's mode; a new file gets
// 0644 less the umask. What is no regular file (a pipe, a terminal, /dev/null) is written as it is.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);

// Throws as write_file would when it cannot begin; changes nothing.
void check_writable(const std::filesystem::path& path);

// Makes names given in the folder of `path` last. Quiet where the file system cannot: the names
// are given nevertheless.
void sync_folder_of(const std::filesystem::path& path);

// ---- Folders, as long as one process at a time writes beside them

// A folder that is filled under another name, NAME.PID-N.part, and then takes its own.
class PartFolder {
 public:
  // Makes the part beside `target`, in a folder that is there. Throws Error(Io) as write_file does.
  explicit PartFolder(std::filesystem::path target);
  // Removes the part unless it took the target's name.
  ~PartFolder();
  PartFolder(const PartFolder&) = delete;
  PartFolder& operator=(const PartFolder&) = delete;

  // Where its files go; write_file waits until the disk has them.
  const std::filesystem::path& path() const { return part_; }

  // Takes the target's name, from an older folder that has it. Throws Error(Io).
  void take_name();

 private:
  void replace();

  const std::filesystem::path target_, part_;
};

// Makes a folder and those above it. Throws Error(Io) as write_file does.
void make_folder(const std::filesystem::path& folder);

// Gone for readers at once, even when it takes long or fails half-way. Quiet.
void remove_folder(const std::filesystem::path& folder) noexcept;

// The name of the target if `folder` is what a killed process left of a PartFolder or of
// remove_folder, else empty.
std::string part_target(const std::filesystem::path& folder);

}  // namespace lab::files
