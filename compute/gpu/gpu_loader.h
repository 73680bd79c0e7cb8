#pragma once
// Loads the shared object that contains the CUDA backend.
#include <span>
#include <string>
#include <vector>

#include "compute/gpu/gpu_backend.h"

namespace lab {

inline constexpr const char* kGpuLibrary = "libdevice-lab-cuda.so";

// Candidate paths: next to the program, and in ../lib/device-lab where it is installed.
std::vector<std::string> gpu_library_paths();

// Loads the backend from the first of `places` that exists. Otherwise GpuBackendResult::reason
// states why there is none: the file is missing, cannot be loaded or belongs to another build, or
// the failure that the driver reports. Throws nothing.
GpuBackendResult load_gpu_backend(std::span<const std::string> places);

}  // namespace lab
