#pragma once
// Downloads and verifies Fashion-MNIST.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lab {

struct FetchProgress {
  std::string file;
  std::int64_t bytes = 0;        // so far, including earlier attempts
  std::int64_t total_bytes = 0;  // 0: unknown
};

// Downloads the four files from `base_url` into `dir`, which is created if missing. Resumes partial
// files, checks the SHA-256 of the decompressed bytes and skips files that are already valid. Each
// file is written under another name and then renamed. `progress` may throw to stop. Throws
// Error(Network | Io | Corrupt).
void fetch_fashion_mnist(const std::filesystem::path& dir, const std::string& base_url,
                         const std::function<void(const FetchProgress&)>& progress);

// Result of a verification: for each file its name and "ok" or the fault.
struct VerifyReport {
  bool all_ok = false;
  std::vector<std::pair<std::string, std::string>> files;
};
VerifyReport verify_fashion_mnist(const std::filesystem::path& dir);

std::string default_base_url();

}  // namespace lab
