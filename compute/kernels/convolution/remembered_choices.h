#pragma once
// Choices that were measured, for this process and, in a file, for those after it.
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "compute/machine/thread_pool.h"

namespace lab {

// Several threads and several processes may share a file. What is wrong with it never stops
// anybody: then choices live in this process alone, and problem() says why.
class RememberedChoices {
 public:
  explicit RememberedChoices(std::filesystem::path file);  // empty: no file

  // The choice of the key, by make() where nobody has made one that is valid(). It is made by one
  // at a time, over all threads and processes; the others wait for it and take it over, until
  // `stop` is requested: then Error(Cancelled) is thrown. Throws what make() throws.
  std::string choose(const std::string& key, FunctionRef<bool(const std::string&)> valid,
                     FunctionRef<std::string()> make, const std::stop_token& stop);

  // One sentence; empty where there is none. `file` may have had it for a while.
  std::string problem() const;

 private:
  using Choices = std::map<std::string, std::string>;
  // Tells one content of the file from the next: it is replaced whenever it is written.
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
  Choices read_;                         // the file's, of this version
  std::optional<Version> read_version_;  // none: nothing was read
  std::string problem_;
};

// Those of this process, kept in $XDG_CACHE_HOME/device-lab/convolutions.json, by default in
// ~/.cache; in no file where neither XDG_CACHE_HOME nor HOME is set.
RememberedChoices& convolution_choices();

}  // namespace lab
