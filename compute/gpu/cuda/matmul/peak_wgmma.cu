// Measures the rate of Hopper's tensor cores with wgmma, operands in shared memory.
//   sums [blocks * warps of a block] FP32, device
// Work     per warpgroup and round: kSteps products 64x256x16 (bf16) or 64x256x8 (tf32), then the
//          same with the opposite sign; 2*2*kSteps*64*256*16 or *8 FLOP
// Rates    FLOP per clock and SM: bf16 4096, tf32 2048, which is 128 clocks per instruction. An
//          instruction reads 8 KiB of B and 2 KiB of A: 80 of the 128 bytes per clock of shared
//          memory
// Limits   rounds >= 0; blocks of kGroups warpgroups; kShared bytes of dynamic shared memory;
//          compute capability 9.0 only (sm_90a). Runs on a GPU only, not in the emulator
// Numerics the sums return to zero in each round except for rounding
// Source   PTX ISA, "wgmma.mma_async"; NVIDIA H100 whitepaper: 989 TFLOPS dense bf16
#include "compute/gpu/cuda/matmul/peak.cuh"
#include "compute/gpu/cuda/matmul/rungs/hopper_stage.cuh"
#include "compute/gpu/cuda/matmul/rungs/launch.cuh"

namespace lab::cuda_matmul {
namespace {

// 128-byte rows of terms: 64 rows of A per warpgroup, then the 256 columns of B. Operands have no
// pattern, so the swizzle's placement does not matter.
template <int kGroups>
struct WgmmaPeakOperands {
  static constexpr int kBytesOfA = hopper::kWgmmaM * hopper::kRowBytes;
  static constexpr int kBytes = kGroups * kBytesOfA + hopper::kWgmmaN * hopper::kRowBytes;
  static constexpr int kShared = kBytes + hopper::kAtomBytes;  // with space for alignment
  static constexpr int kSteps = hopper::kRowBytes / hopper::kStepBytes;
};

template <int kSign>
LAB_DEVICE void multiply_rows(PeakBf16, hopper::WgmmaSums& sums, std::uint64_t a, std::uint64_t b) {
  hopper::multiply_rows_bf16<kSign>(sums, a, b);
}
template <int kSign>
LAB_DEVICE void multiply_rows(PeakTf32, hopper::WgmmaSums& sums, std::uint64_t a, std::uint64_t b) {
  hopper::multiply_rows_tf32<kSign>(sums, a, b);
}

template <int kSign, class Kind, int kSteps>
LAB_DEVICE void multiply_all(hopper::WgmmaSums& sums, std::uint32_t a, std::uint32_t b) {
  LAB_UNROLL
  for (int i = 0; i < kSteps; ++i) {
    multiply_rows<kSign>(Kind{}, sums, hopper::descriptor_rows(a, i * hopper::kStepBytes),
                         hopper::descriptor_rows(b, i * hopper::kStepBytes));
  }
}

// block [kGroups * 128]; WgmmaPeakOperands<kGroups>::kShared bytes of dynamic shared memory
template <class Kind, int kGroups>
LAB_DEVICE void wgmma_peak_body(const PeakArgs& args) {
  using Operands = WgmmaPeakOperands<kGroups>;
  LAB_DYNAMIC_SHARED(unsigned char, shared);
  unsigned char* const operands = hopper::first_stage(shared);
  const int thread = simt::thread_idx().x;
  constexpr int kWords = Operands::kBytes / 4;
  for (int i = thread; i < kWords; i += simt::block_dim().x) {
    simt::shared_cast<std::uint32_t>(operands)[i] =
        Kind::word(std::uint32_t(simt::block_idx().x * kWords + i));
  }
  hopper::publish_stores();
  simt::sync_threads();
  const std::uint32_t first = simt::shared_address(operands);
  const std::uint32_t a = first + thread / hopper::kWarpgroup * Operands::kBytesOfA;
  const std::uint32_t b = first + kGroups * Operands::kBytesOfA;
  hopper::WgmmaSums sums = {};
  LAB_NO_UNROLL
  for (std::int64_t round = 0; round < args.rounds; ++round) {
    hopper::begin_group();
    multiply_all<1, Kind, Operands::kSteps>(sums, a, b);
    multiply_all<-1, Kind, Operands::kSteps>(sums, a, b);
    hopper::commit_group();
    hopper::wait_group<1>();
  }
  hopper::finish(sums);
  float sum = 0;
  LAB_UNROLL
  for (int i = 0; i < hopper::kWgmmaN / 2; ++i) sum += sums[i / 4][i % 4];
  write_peak_sum(args, sum);
}

constexpr int kGroups = 2;  // one multiplies while the other waits for its sums
constexpr int kPeakThreads = kGroups * hopper::kWarpgroup;
using Operands = WgmmaPeakOperands<kGroups>;

__device__ float peak_sums[kPeakSums];

__global__ void __launch_bounds__(kPeakThreads, 1) wgmma_tf32_peak_kernel(std::int64_t rounds) {
  wgmma_peak_body<PeakTf32, kGroups>({peak_sums, rounds});
}
__global__ void __launch_bounds__(kPeakThreads, 1) wgmma_bf16_peak_kernel(std::int64_t rounds) {
  wgmma_peak_body<PeakBf16, kGroups>({peak_sums, rounds});
}

// FLOP per thread and round for instructions with `terms` terms.
constexpr double thread_flop(int terms) {
  return 2.0 * Operands::kSteps * 2 * hopper::kWgmmaM * hopper::kWgmmaN * terms /
         hopper::kWarpgroup;
}

}  // namespace

PeakCode wgmma_tf32_peak() {
  return peak_code<wgmma_tf32_peak_kernel, kPeakThreads, 1, Operands::kShared>(thread_flop(8));
}

PeakCode wgmma_bf16_peak() {
  return peak_code<wgmma_bf16_peak_kernel, kPeakThreads, 1, Operands::kShared>(thread_flop(16));
}

}  // namespace lab::cuda_matmul
