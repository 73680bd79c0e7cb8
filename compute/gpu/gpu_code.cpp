#include "compute/gpu/gpu_code.h"

#include <fmt/format.h>

#include <charconv>

namespace lab {
namespace {

bool runs(std::string_view architecture, int major, int minor) {
  const std::size_t dash = architecture.find('-');
  const std::string_view kind = dash == std::string_view::npos ? "" : architecture.substr(dash + 1);
  const std::string_view name = architecture.substr(0, dash);
  int number = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (failed != std::errc()) return true;
  const std::string_view letter = name.substr(static_cast<std::size_t>(end - name.data()));
  const int gpu = 10 * major + minor;
  if (letter == "a") return gpu == number;
  const bool same_major = number / 10 == major && number <= gpu;
  if (letter == "f") return same_major;
  return (kind != "virtual" && same_major) || (kind != "real" && number <= gpu);
}

}  // namespace

bool has_gpu_code(std::string_view architectures, int major, int minor) {
  while (true) {
    const std::size_t comma = architectures.find(',');
    if (runs(architectures.substr(0, comma), major, minor)) return true;
    if (comma == std::string_view::npos) return false;
    architectures.remove_prefix(comma + 1);
  }
}

std::string no_gpu_code(int major, int minor) {
  if (major < kOldestGpuCode) {
    return fmt::format("the lab's kernels need compute capability {}.0 or later; the GPU has {}.{}",
                       kOldestGpuCode, major, minor);
  }
  return fmt::format(
      "this build has no code for compute capability {0}.{1}; build it with "
      "-DLAB_CUDA_ARCHITECTURES={0}{1}",
      major, minor);
}

}  // namespace lab
