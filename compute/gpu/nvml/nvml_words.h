#pragma once
// NVML's numbers in words.
#include <string>
#include <vector>

#include "compute/core/events/gpu_info.h"

namespace lab::nvml {

// "Hopper" for nvmlDeviceArchitecture_t 9; empty for one the lab does not know.
std::string architecture_name(unsigned number);

// "exclusive process" for nvmlComputeMode_t 3; empty for one the lab does not know.
std::string compute_mode_name(unsigned number);

// `name` of a number of NVML's, or that the lab does not know the number.
Maybe<std::string> named(const Maybe<unsigned>& number, std::string (*name)(unsigned));

// CUDA cores in a streaming multiprocessor of that compute capability; 0 for one not known.
int cores_per_sm(int major, int minor);

// "4.0" for nvmlNvlinkVersion_t 6.
std::string nvlink_version(unsigned number);

// What the bits of nvmlDeviceGetCurrentClocksEventReasons say, the gravest first.
std::vector<std::string> clock_limits(unsigned long long bits);

// The answer of nvmlDeviceGetP2PStatus.
PeerAccess peer_access(unsigned status);

// "13.0" for 13000.
std::string cuda_version(int number);

}  // namespace lab::nvml
