#pragma once
// Folders that are there whole or not at all, as long as one process at a time writes beside them.
#include <filesystem>
#include <string>

namespace lab::files {

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
