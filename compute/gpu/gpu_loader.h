#pragma once
// Opens the shared object that holds the CUDA half.
#include <span>
#include <string>
#include <vector>

#include "compute/gpu/gpu_backend.h"

namespace lab {

inline constexpr const char* kGpuLibrary = "libdevice-lab-cuda.so";

// Where it may lie: beside the program, and in ../lib/device-lab as installed.
std::vector<std::string> gpu_library_places();

// The back end of the first of `places` where the file exists, or why there is none: the file is
// missing, cannot be loaded, is of another build, or what it says of the driver. Throws nothing.
GpuOffer load_gpu_backend(std::span<const std::string> places);

}  // namespace lab
