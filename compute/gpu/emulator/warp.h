#pragma once
// Warp operations for the host. The masks name the participating lanes.
#include <bit>
#include <cstdint>

#include "compute/gpu/emulator/index.h"
#include "compute/gpu/emulator/memory/pointers.h"
#include "compute/gpu/emulator/where.h"

namespace lab::simt {

constexpr std::uint32_t kFullWarp = 0xffffffffU;

Index3 thread_idx();
Index3 block_idx();
Index3 block_dim();
Index3 grid_dim();
int lane();
int warp();
inline int uniform_warp() {
  return warp();
}

void sync_threads(const Where& where = Where::here());
void sync_warp(std::uint32_t mask = kFullWarp, const Where& where = Where::here());
bool vote_all(bool p, std::uint32_t mask = kFullWarp, const Where& where = Where::here());
bool vote_any(bool p, std::uint32_t mask = kFullWarp, const Where& where = Where::here());
std::uint32_t ballot(bool p, std::uint32_t mask = kFullWarp, const Where& where = Where::here());

// Returns the lane's index in its warp. Unlike lane(), it is valid for blocks with rows shorter
// than a warp.
int lane_of_warp();
// Returns the bits that lane `source` contributes.
std::uint32_t exchange(std::uint32_t bits, int source, const char* name, std::uint32_t mask,
                       const Where& where);

template <typename T>
T shuffle(T value, int source_lane, std::uint32_t mask = kFullWarp,
          const Where& where = Where::here()) {
  return std::bit_cast<T>(exchange(std::bit_cast<std::uint32_t>(value),
                                   source_lane & (kWarpLanes - 1), "shuffle", mask, where));
}
template <typename T>
T shuffle_up(T value, int distance, std::uint32_t mask = kFullWarp,
             const Where& where = Where::here()) {
  const int source = lane_of_warp() - distance;
  return std::bit_cast<T>(exchange(std::bit_cast<std::uint32_t>(value),
                                   source < 0 ? lane_of_warp() : source, "shuffle_up", mask,
                                   where));
}
template <typename T>
T shuffle_down(T value, int distance, std::uint32_t mask = kFullWarp,
               const Where& where = Where::here()) {
  const int source = lane_of_warp() + distance;
  return std::bit_cast<T>(exchange(std::bit_cast<std::uint32_t>(value),
                                   source >= kWarpLanes ? lane_of_warp() : source, "shuffle_down",
                                   mask, where));
}
template <typename T>
T shuffle_xor(T value, int bits, std::uint32_t mask = kFullWarp,
              const Where& where = Where::here()) {
  const int source = lane_of_warp() ^ bits;
  return std::bit_cast<T>(exchange(std::bit_cast<std::uint32_t>(value),
                                   source >= kWarpLanes ? lane_of_warp() : source, "shuffle_xor",
                                   mask, where));
}

// Tensor cores; the layouts are in compute/gpu/cuda/kernel/simt_common.cuh. Products are exact and
// summed in double, then rounded to float once; the GPU's order and rounding differ.
void load_matrices(std::uint32_t* r, int count, bool transposed, SharedArray& array,
                   std::ptrdiff_t row_offset, const Where& where);
template <int kMatrices, typename T>
void ldmatrix(std::uint32_t (&r)[kMatrices], const SharedPtr<T>& row,
              const Where& where = Where::here()) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  load_matrices(r, kMatrices, false, row.here(), row.byte_offset(), where);
}
template <int kMatrices, typename T>
void ldmatrix_transposed(std::uint32_t (&r)[kMatrices], const SharedPtr<T>& row,
                         const Where& where = Where::here()) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4);
  load_matrices(r, kMatrices, true, row.here(), row.byte_offset(), where);
}
void mma_m16n8k16_bf16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                       const Where& where = Where::here());
void mma_m16n8k8_tf32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                      const Where& where = Where::here());

}  // namespace lab::simt
