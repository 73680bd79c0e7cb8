#include "compute/gpu/gpu_loader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "compute/core/language.h"
#include "compute/core/language_catalogs.h"
#include "compute/gpu/dynamic_library.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

GpuBackendResult unavailable(std::string reason) {
  GpuBackendResult result;
  result.reason = std::move(reason);
  return result;
}

}  // namespace

std::vector<std::string> gpu_library_paths() {
  std::error_code failed;
  const fs::path folder = fs::read_symlink("/proc/self/exe", failed).parent_path();
  if (failed) return {};
  return {(folder / kGpuLibrary).string(),
          (folder.parent_path() / "lib" / "device-lab" / kGpuLibrary).string()};
}

GpuBackendResult load_gpu_backend(std::span<const std::string> places) {
  const auto file_exists = [](const std::string& place) {
    std::error_code failed;
    return fs::exists(place, failed);
  };
  const auto found = std::find_if(places.begin(), places.end(), file_exists);
  if (found == places.end()) {
    return unavailable(trf("the lab's CUDA backend ({}) was not found at {}; install it there",
                           kGpuLibrary, fmt::join(places, fmt::format(" {} ", tr("or")))));
  }
  const Maybe<DynamicLibrary> library = DynamicLibrary::open({*found});
  if (!library) {
    return unavailable(trf("the lab's CUDA backend cannot be loaded: {}", library.reason()));
  }
  const auto entry = library->function<GpuEntryFunction>(kGpuEntryName);
  if (entry == nullptr) {
    return unavailable(
        trf("{} is not the lab's CUDA backend: it lacks {}; install the file of this version",
            *found, kGpuEntryName));
  }
  const GpuEntry info = entry();
  if (info.interface_version != kGpuInterfaceVersion || info.open == nullptr) {
    return unavailable(
        trf("{} belongs to another version of the lab (its interface is {}, this program's is {}); "
            "install both from the same build",
            *found, info.interface_version, kGpuInterfaceVersion));
  }
  GpuBackendResult result = unavailable(tr("the lab's CUDA backend reported no reason"));
  info.open(result, catalog_slot());
  return result;
}

}  // namespace lab
