#pragma once
// Hopper features beyond the vocabulary of simt.h: mbarriers, the copy engine for tensor boxes
// (TMA), clusters and wgmma. Plain CUDA for sm_90a, not supported by the emulator.
//
// wgmma    a warpgroup of 128 threads multiplies 64x16 by 16x256 of bf16 directly from shared
//          memory. Sums of thread t: with w = t / 32 % 4, g = t % 32 / 4 and q = t % 4, sums[j][i]
//          is row 16w + g (+8: i >= 2), column 8j + 2q + i % 2
// Source   PTX ISA, "mbarrier", "cp.async.bulk.tensor", "mapa", "wgmma.mma_async", "Matrix
//          Descriptor Format", "Strides"
#include <cuda.h>

#include <cstdint>

#include "compute/gpu/cuda/kernel/simt.h"
#include "compute/gpu/cuda/matmul/stalled_wait.h"

namespace lab::cuda_matmul::hopper {

using Barrier = std::uint64_t;  // in shared memory

// Two neighbouring words of shared memory, 8-byte aligned. The compiler does not see that a
// pointer into a stage or piece points to shared memory.
LAB_DEVICE void load_pair(std::uint32_t from, std::uint32_t& first, std::uint32_t& second) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(first), "=r"(second) : "r"(from));
}
LAB_DEVICE void store_pair(std::uint32_t to, float first, float second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(first), "f"(second) : "memory");
}

LAB_DEVICE void init(Barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(simt::shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
// Makes preceding generic stores to shared memory visible to the copy engine and to wgmma. Call
// before the barrier that orders them.
LAB_DEVICE void publish_stores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Makes initialised barriers visible to the copy engine and to the cluster's other blocks. Call
// between init() and the barrier of the block or cluster.
LAB_DEVICE void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  publish_stores();
}
LAB_DEVICE void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(simt::shared_address(barrier))
               : "memory");
}
// Arrives, and keeps the phase open until `bytes` bytes have been copied.
LAB_DEVICE void arrive_expecting(Barrier* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(simt::shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
// Where a wait that times out leaves its note: host memory, set before the first launch. Every
// source file has its own, for the kernels in it.
[[maybe_unused]] static __device__ std::uint32_t* wait_note = nullptr;

// Waits for the end of the phase with this parity: 0 for the first phase, 1 for the second, then
// alternating. After kLimit_clocks, leaves a note and ends the context with an error. The clock is
// read only after a failed try, which suspends the thread anyway. In one asm statement, because any
// other control flow would serialise the wgmma instructions.
template <WaitFor kWhat, std::int64_t kLimit_clocks = kLongestWait_clocks>
LAB_DEVICE void wait(Barrier* barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      ".reg .b32 note;\n"
      ".reg .b64 begin, now, to;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra done;\n"
      "mov.b64 begin, %%clock64;\n"
      "retry:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra done;\n"
      "mov.b64 now, %%clock64;\n"
      "sub.s64 now, now, begin;\n"
      "setp.lt.s64 p, now, %2;\n"
      "@p bra retry;\n"
      "ld.global.b64 to, [%3];\n"
      "mov.b32 note, %%ctaid.x;\n"
      "or.b32 note, note, %4;\n"
      "st.volatile.global.b32 [to], note;\n"
      "fence.acq_rel.sys;\n"
      "trap;\n"
      "done:\n"
      "}\n" ::"r"(simt::shared_address(barrier)),
      "r"(parity), "n"(kLimit_clocks), "l"(&wait_note), "n"(stalled_wait(kWhat, 0))
      : "memory");
}

// Copies the map's box whose first element is at (col, row). Elements outside the matrix become
// zeros and count as copied bytes.
LAB_DEVICE void copy_box(void* to, const CUtensorMap& map, int col, int row, Barrier* done) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(simt::shared_address(to)),
      "l"(&map), "r"(col), "r"(row), "r"(simt::shared_address(done))
      : "memory");
}

// Fetches a tensor map, so that the first copy does not wait for it.
LAB_DEVICE void prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Writes a box from shared memory to the matrix; elements outside it are dropped. The memory may
// be overwritten once wait_stores_read() returns. Its values are the first that L2 evicts.
LAB_DEVICE void store_box(const CUtensorMap& map, const void* from, int col, int row) {
  asm volatile(
      "{\n"
      ".reg .b64 policy;\n"
      "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint "
      "[%0, {%1, %2}], [%3], policy;\n"
      "}\n" ::"l"(&map),
      "r"(col), "r"(row), "r"(simt::shared_address(from))
      : "memory");
}
// Ends the group of this thread's stores since the previous call.
LAB_DEVICE void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Waits until at most the kPending newest groups of this thread still read shared memory.
template <int kPending>
LAB_DEVICE void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}
// Waits until all groups of this thread are complete.
LAB_DEVICE void wait_stores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Barrier for the 128 threads of a warpgroup, of which the block has up to 15.
LAB_DEVICE void sync_warpgroup(int group) {
  asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
}

// Barrier for the 64 threads of a pair of warps, of which the block has up to 15.
LAB_DEVICE void sync_warp_pair(int pair) {
  asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
}

// Sets the register count of every thread of the warpgroup: dealloc_registers() lowers it,
// alloc_registers() raises it.
template <int kRegisters>
LAB_DEVICE void dealloc_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
LAB_DEVICE void alloc_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

LAB_DEVICE int cluster_rank() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return int(rank);
}

// Barrier for all threads of the cluster: their preceding shared memory accesses are complete.
LAB_DEVICE void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// As sync_cluster(), but orders no accesses: for barriers that publish_barriers() has published.
LAB_DEVICE void meet_cluster() {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// Arrives at the barrier at the same offset in the block of this rank. The arrival signals that
// wgmma has read a stage and publishes no stores, so the default scope suffices: a wider one would
// add a GPU-wide fence to every stage.
LAB_DEVICE void arrive_at(Barrier* barrier, int rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}\n" ::"r"(simt::shared_address(barrier)),
      "r"(rank)
      : "memory");
}

// As copy_box(), to the same offset in each block whose rank's bit is set in `blocks`; completion
// is counted at that block's barrier.
LAB_DEVICE void copy_box_to(int blocks, void* to, const CUtensorMap& map, int col, int row,
                            Barrier* done) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(simt::shared_address(to)),
      "l"(&map), "r"(col), "r"(row), "r"(simt::shared_address(done)),
      "h"(static_cast<std::uint16_t>(blocks))
      : "memory");
}

constexpr int kWgmmaM = 64;
constexpr int kWgmmaN = 256;
constexpr int kWgmmaK = 16;
constexpr int kStepBytes = 2 * kWgmmaK;  // row bytes per instruction: 16 bf16 or 8 tf32 terms
constexpr int kRowBytes = 128;           // row of a box in shared memory: 64 bf16, swizzled
constexpr int kBoxColumns = kRowBytes / 2;
constexpr int kAtomBytes = 8 * kRowBytes;  // period of the swizzle, alignment of boxes

using WgmmaSums = float[kWgmmaN / 8][4];

// Matrix descriptor of an operand in boxes with 128-byte rows that the copy engine has swizzled.
LAB_DEVICE std::uint64_t descriptor(std::uint32_t address, int leading_bytes, int stride_bytes) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
  return (address & 0x3ffffU) >> 4 | std::uint64_t(leading_bytes >> 4) << 16 |
         std::uint64_t(stride_bytes >> 4) << 32 | kSwizzle128;
}
// For boxes whose rows hold terms of a row of A or of a column of B, from byte `past` on.
LAB_DEVICE std::uint64_t descriptor_rows(std::uint32_t box, int past) {
  constexpr int kUnused = 16;
  return descriptor(box + past, kUnused, kAtomBytes);
}
// For boxes whose rows hold 64 columns of one term of B; the box of the next columns is `box_bytes`
// further on.
LAB_DEVICE std::uint64_t descriptor_columns(std::uint32_t box, int term, int box_bytes) {
  return descriptor(box + term * kRowBytes, box_bytes, kAtomBytes);
}

// Call before a group's first multiply_async; the group's registers may not be written otherwise
// until finish().
LAB_DEVICE void begin_group() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
LAB_DEVICE void commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until at most the kPending newest groups are in flight. Sums may be read only after
// finish().
template <int kPending>
LAB_DEVICE void wait_group() {
  static_assert(kPending > 0);
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define LAB_SUMS_OF_1(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define LAB_SUMS_OF_4(j) \
  LAB_SUMS_OF_1(j), LAB_SUMS_OF_1(j + 1), LAB_SUMS_OF_1(j + 2), LAB_SUMS_OF_1(j + 3)
#define LAB_SUMS                                                                              \
  LAB_SUMS_OF_4(0), LAB_SUMS_OF_4(4), LAB_SUMS_OF_4(8), LAB_SUMS_OF_4(12), LAB_SUMS_OF_4(16), \
      LAB_SUMS_OF_4(20), LAB_SUMS_OF_4(24), LAB_SUMS_OF_4(28)

// Waits for all groups. The operands keep the compiler from reading the sums earlier.
LAB_DEVICE void finish(WgmmaSums& d) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" : LAB_SUMS::"memory");
}

// d += A * B by `shape_and_types`, asynchronous; executed by all 128 threads of the warpgroup.
// `operands`: A, B, whether to add, signs of A and B, then, for 16-bit operands only, whether each
// is transposed. %128 is the first of the inputs.
#define LAB_WGMMA(shape_and_types, operands, ...)                                                  \
  asm volatile(                                                                                    \
      "{\n"                                                                                        \
      ".reg .pred add;\n"                                                                          \
      "setp.ne.b32 add, 1, 0;\n"                                                                   \
      "wgmma.mma_async.sync.aligned." shape_and_types                                              \
      " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "    \
      "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, " \
      "%37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, " \
      "%55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, " \
      "%73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, " \
      "%91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, "    \
      "%107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, " \
      "%122, %123, %124, %125, %126, %127}, " operands                                             \
      ";\n"                                                                                        \
      "}\n"                                                                                        \
      : LAB_SUMS                                                                                   \
      : __VA_ARGS__)

// B has one row per term, as in global memory.
LAB_DEVICE void multiply_async(WgmmaSums& d, std::uint64_t a, std::uint64_t b) {
  LAB_WGMMA("m64n256k16.f32.bf16.bf16", "%128, %129, add, 1, 1, 0, 1", "l"(a), "l"(b));
}

// B has one row per column, with its terms in sequence: d += kSign * A * B. tf32 supports only this
// layout; its operands are f32 of which 10 mantissa bits count, 8 terms per instruction.
template <int kSign>
LAB_DEVICE void multiply_rows_bf16(WgmmaSums& d, std::uint64_t a, std::uint64_t b) {
  LAB_WGMMA("m64n256k16.f32.bf16.bf16", "%128, %129, add, 1, %130, 0, 0", "l"(a), "l"(b),
            "n"(kSign));
}
template <int kSign>
LAB_DEVICE void multiply_rows_tf32(WgmmaSums& d, std::uint64_t a, std::uint64_t b) {
  LAB_WGMMA("m64n256k8.f32.tf32.tf32", "%128, %129, add, 1, %130", "l"(a), "l"(b), "n"(kSign));
}

// The rows of A that a warp multiplies, 16 of 8 terms, in the registers of its lanes, as in mma's
// m16n8k8. They may be overwritten once the group is complete.
using Tf32Rows = std::uint32_t[4];
LAB_DEVICE void multiply_registers_tf32(WgmmaSums& d, const Tf32Rows& a, std::uint64_t b) {
  LAB_WGMMA("m64n256k8.f32.tf32.tf32", "{%128, %129, %130, %131}, %132, add, 1, 1", "r"(a[0]),
            "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

#undef LAB_WGMMA
#undef LAB_SUMS
#undef LAB_SUMS_OF_4
#undef LAB_SUMS_OF_1

}  // namespace lab::cuda_matmul::hopper
