#pragma once
// Downloads and checks Fashion-MNIST.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lab {

struct FetchProgress {
  std::string file;
  std::int64_t bytes = 0;        // so far, what was there before included
  std::int64_t total_bytes = 0;  // 0: not known
};

// Downloads the four files from `base_url` into `dir` (created), resuming partial files, and checks
// the sha256 of the decompressed bytes; a file that is there and right is not fetched again.
// Writes beside and renames. `progress` may throw to stop. Throws Error(Network | Io | Corrupt).
void fetch_fashion_mnist(const std::filesystem::path& dir, const std::string& base_url,
                         const std::function<void(const FetchProgress&)>& progress);

// Checks the four files; returns one line a file, "ok" or what is wrong; `all_ok` says it in one.
struct VerifyReport {
  bool all_ok = false;
  std::vector<std::pair<std::string, std::string>> files;
};
VerifyReport verify_fashion_mnist(const std::filesystem::path& dir);

std::string default_base_url();

}  // namespace lab
