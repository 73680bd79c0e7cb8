#pragma once
// How the sum of squares is divided.

namespace lab::cuda {

inline constexpr int kNormThreads = 256;
inline constexpr int kNormBlocks = 1024;  // at most; a power of two, as is kNormThreads

}  // namespace lab::cuda
