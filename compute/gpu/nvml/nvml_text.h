#pragma once
// Converts NVML's numeric codes to text.
#include <string>
#include <vector>

#include "compute/core/events/gpu_info.h"

namespace lab::nvml {

// "Hopper" for nvmlDeviceArchitecture_t 9; empty for an unknown number.
std::string architecture_name(unsigned number);

// "exclusive process" for nvmlComputeMode_t 3; empty for an unknown number.
std::string compute_mode_name(unsigned number);

// Applies `name`; missing if it returns an empty string.
Maybe<std::string> named(const Maybe<unsigned>& number, std::string (*name)(unsigned));

// CUDA cores per SM for this compute capability; 0 if unknown.
int cores_per_sm(int major, int minor);

// "4.0" for nvmlNvlinkVersion_t 6.
std::string nvlink_version(unsigned number);

// Describes the bits of nvmlDeviceGetCurrentClocksEventReasons, the most severe first.
std::vector<std::string> clock_limits(unsigned long long bits);

// Interprets the result of nvmlDeviceGetP2PStatus.
PeerAccess peer_access(unsigned status);

// "13.0" for 13000.
std::string cuda_version(int number);

}  // namespace lab::nvml
