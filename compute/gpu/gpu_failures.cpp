#include "compute/gpu/gpu_failures.h"

#include <fmt/format.h>

#include <charconv>

#include "compute/core/language.h"
#include "compute/core/units.h"

namespace lab {
namespace {

constexpr int kOldestCuda = 12;  // that the lab builds with

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

// From 9.0 on, kernels use instructions that only code for one architecture may have.
std::string architecture(int major, int minor) {
  return fmt::format("{}{}{}", major, minor, major >= 9 ? "a-real" : "");
}

}  // namespace

Error gpu_out_of_memory(Device device, std::int64_t asked_bytes, const GpuMemory& memory) {
  return {Errc::OutOfMemory,
          trf("{}: {} requested, but the GPU has {} free of {}; this process's pool holds {}, {} "
              "of it in use; free some tensors, or choose a smaller size or another device",
              to_string(device), format_bytes(asked_bytes), format_bytes(memory.free_bytes),
              format_bytes(memory.total_bytes), format_bytes(memory.pool_reserved_bytes),
              format_bytes(memory.pool_used_bytes))};
}

Error pinned_out_of_memory(std::int64_t asked_bytes, const std::string& why) {
  return {Errc::OutOfMemory, trf("pinned memory: allocation of {} failed ({}); choose a smaller "
                                 "size, or raise the limit on locked memory",
                                 format_bytes(asked_bytes), why)};
}

Error gpu_failure(Device device, const std::string& operation, const std::string& why) {
  return {Errc::Cuda, trf("{}: {} failed: {}", to_string(device), operation, why)};
}

Error no_peer_access(Device from, Device to) {
  return {Errc::Unsupported,
          trf("{} cannot reach the memory of {} directly; copies between them go through the host",
              to_string(from), to_string(to))};
}

std::string gpu_unavailable(Device device, const std::string& why) {
  return trf(
      "{}: the driver gives this process no access ({}); another process uses the GPU exclusively, "
      "or its compute mode is Prohibited: see nvidia-smi -q -d COMPUTE",
      to_string(device), why);
}

void GpuHealth::require_usable() const {
  const std::lock_guard lock(mutex_);
  if (!lost_.empty()) throw Error(Errc::DeviceLost, lost_);
}

Error GpuHealth::lose(const std::string& operation, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (lost_.empty()) {
    lost_ =
        trf("{} is lost: {} failed with {}; its data is gone; restart device-lab to use it again",
            to_string(device_), operation, why);
  }
  return {Errc::DeviceLost, lost_};
}

std::string GpuHealth::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

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
    return trf("the lab's kernels need compute capability {}.0 or later; the GPU has {}.{}",
               kOldestGpuCode, major, minor);
  }
  return trf(
      "this build has no code for compute capability {}.{}; add {} to LAB_CUDA_ARCHITECTURES and "
      "build again",
      major, minor, architecture(major, minor));
}

std::string unusable_ptx(int major, int minor) {
  return trf(
      "the driver is too old to compile this build's portable code (PTX) for compute capability "
      "{}.{}; update the driver, or add {} to LAB_CUDA_ARCHITECTURES and build again",
      major, minor, architecture(major, minor));
}

GpuSelection select_gpus(int count, std::string_view architectures,
                         const std::function<void(int ordinal, GpuProperties& facts)>& read) {
  GpuSelection selection;
  for (int i = 0; i < count; ++i) {
    GpuProperties facts;
    facts.name = trf("CUDA device {}", i);
    try {
      read(i, facts);
    } catch (const Error& error) {
      selection.refused.push_back({facts, error.what()});
      continue;
    }
    if (has_gpu_code(architectures, facts.compute_major, facts.compute_minor)) {
      selection.usable.push_back({facts, i});
    } else {
      selection.refused.push_back({facts, no_gpu_code(facts.compute_major, facts.compute_minor)});
    }
  }
  return selection;
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string driver_too_old(int driver_cuda, int build_cuda, const std::string& release) {
  const int needed = build_cuda / 1000;
  const int branch = needed == 12 ? 525 : 580;  // oldest drivers of CUDA 12 and of CUDA 13
  const std::string driver =
      release.empty() ? std::string(tr("the NVIDIA driver")) : trf("NVIDIA driver {}", release);
  if (driver_cuda / 1000 < kOldestCuda) {
    return trf(
        "{} is too old: it supports CUDA {}, and this program needs CUDA {}.0, which needs driver "
        "{} "
        "or later; install a newer driver",
        driver, cuda_version_text(driver_cuda), needed, branch);
  }
  return trf(
      "{} is too old: it supports CUDA {}, and this program needs CUDA {}.0, which needs driver {} "
      "or later; install a newer driver, or build the lab with CUDA {}",
      driver, cuda_version_text(driver_cuda), needed, branch, driver_cuda / 1000);
}

}  // namespace lab
