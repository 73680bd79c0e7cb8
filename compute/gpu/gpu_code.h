#pragma once
// Which GPUs a build of the CUDA half has code for.
#include <string>
#include <string_view>

namespace lab {

// Whether a GPU of compute capability `major`.`minor` runs something of a build for
// `architectures`, separated by commas and each as CMAKE_CUDA_ARCHITECTURES has it: "80-real" is
// machine code, "90-virtual" PTX, "80" both; a or f after the number keeps it to that GPU or that
// family. A word of another kind ("native") may stand for any GPU.
// Source   CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility"
bool has_gpu_code(std::string_view architectures, int major, int minor);

// The major compute capability that the kernels' instructions begin with: cp.async and bf16.
inline constexpr int kOldestGpuCode = 8;

// "this build has no code for compute capability 8.6; build it with -DLAB_CUDA_ARCHITECTURES=86",
// or that no build has any for so old a GPU.
std::string no_gpu_code(int major, int minor);

}  // namespace lab
