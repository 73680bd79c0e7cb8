#pragma once
// Measured choices, kept for this process and, in a file, for later ones.
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "compute/machine/thread_pool.h"

namespace lab {

// Several threads and several processes may share a file. A problem with the file is never fatal:
// choices are then kept for this process only, and problem() describes the cause.
class RememberedChoices {
 public:
  explicit RememberedChoices(std::filesystem::path file);  // an empty path means no file

  // Returns the choice stored for `key` if it is valid(), otherwise the result of make(), which is
  // stored. Across all threads and processes, one caller at a time runs make(); the others wait for
  // its choice and use it. Throws Error(Errc::Cancelled) once `stop` is requested, and whatever
  // make() throws.
  std::string choose(const std::string& key, FunctionRef<bool(const std::string&)> valid,
                     FunctionRef<std::string()> make, const std::stop_token& stop);

  // The latest problem with the file, in one sentence; empty if there has been none. It may predate
  // this process's use of the file.
  std::string problem() const;

 private:
  using Choices = std::map<std::string, std::string>;
  // Identifies a version of the file: every write replaces the file.
  struct Version {
    std::uint64_t inode = 0;
    std::int64_t bytes = 0, modified_s = 0, modified_ns = 0;
    bool operator==(const Version&) const = default;
  };

  std::optional<std::string> find(const std::string& key,
                                  FunctionRef<bool(const std::string&)> valid);
  const Choices& read();
  Choices parse();
  void write(const std::string& key, const std::string& choice);

  const std::filesystem::path file_;
  mutable std::mutex mutex_;
  Choices made_;
  Choices read_;                         // the choices in the file at read_version_
  std::optional<Version> read_version_;  // empty: nothing has been read
  std::string problem_;
};

// The choices of this process, stored in $XDG_CACHE_HOME/device-lab/convolutions.json, by default
// in ~/.cache. Without XDG_CACHE_HOME and HOME there is no file.
RememberedChoices& convolution_choices();

}  // namespace lab
