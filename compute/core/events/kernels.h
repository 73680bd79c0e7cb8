#pragma once
// Whose kernels compute.

namespace lab {

// Lab: our own. Library: oneDNN on the CPU.
enum class Kernels { Lab, Library };

const char* to_string(Kernels kernels);  // "lab", "library"

}  // namespace lab
