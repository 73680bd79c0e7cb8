// The kernels of the rungs that require sm_90a, their launches, and the tensor maps through which
// the copy engine locates their operands.
#include <cudaTypedefs.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <type_traits>

#include "compute/gpu/cuda/device/driver_function.h"
#include "compute/gpu/cuda/matmul/rungs/launch.cuh"
#include "compute/gpu/cuda/matmul/rungs/rungs.h"

namespace lab::cuda_matmul {
namespace {

template <class Type>
__global__ void __launch_bounds__(kThreads<Type::kRung.tiling>, Type::kRung.tiling.blocks_per_sm)
    rung_kernel(const __grid_constant__ HopperMaps maps, ArgsOf<Type> args) {
  multiply<Type::kRung.tiling>(Type{}, maps, args);
}

// A row-major matrix of bf16 or f32, which the copy engine moves in boxes of box_rows rows of 128
// bytes, swizzled.
struct Matrix {
  CUtensorMapDataType type;
  int element_bytes;
  const void* data;         // 16-byte aligned
  std::int64_t rows, cols;  // both > 0
  std::int64_t ld;          // a row spans a multiple of 16 bytes
  int box_rows;
};

// An operand. f32 is rounded to tf32, to nearest, as it is copied.
template <class T>
Matrix operand(const T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld, int box_rows) {
  constexpr auto kType = std::is_same_v<T, float> ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
                                                  : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  return {kType, sizeof(T), data, rows, cols, ld, box_rows};
}

// Elements outside the matrix read as zeros and are not written. Calls the driver, so a GPU context
// must be current.
cudaError_t make_tensor_map(CUtensorMap& map, const Matrix& matrix) {
  static const auto kEncode =
      cuda::driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled", 12000);
  if (kEncode == nullptr) return cudaErrorNotSupported;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(matrix.cols),
                              static_cast<cuuint64_t>(matrix.rows)};
  const cuuint64_t row_bytes[] = {static_cast<cuuint64_t>(matrix.ld * matrix.element_bytes)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(hopper::kRowBytes / matrix.element_bytes),
                            static_cast<cuuint32_t>(matrix.box_rows)};
  const cuuint32_t every[] = {1, 1};
  // The driver's parameter is a mutable pointer, whatever the kernels do with the map.
  void* const data = const_cast<void*>(matrix.data);
  const CUresult result =
      kEncode(&map, matrix.type, 2, data, sizes, row_bytes, box, every,
              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// Adjacent blocks share boxes of A, and store fewer rows of C at once.
template <class Args>
cudaError_t make_maps(HopperMaps& maps, const Tiling& tiling, const Args& args) {
  const int a_rows = tiling.beside ? tiling.m / tiling.cluster : tiling.m;
  const int c_rows = tiling.beside ? kPieceRowsOfPair : kCPieceRows;
  auto status = make_tensor_map(maps.a, operand(args.a, args.m, args.k, args.lda, a_rows));
  if (status != cudaSuccess) return status;
  status = make_tensor_map(maps.b, operand(args.b, args.k, args.n, args.ldb, tiling.k));
  if (status != cudaSuccess) return status;
  return make_tensor_map(
      maps.c, {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, args.c, args.m, args.n, args.ldc, c_rows});
}

// The number of persistent blocks: one per SM, in whole clusters.
cudaError_t count_resident(const Tiling& tiling, std::int64_t& blocks) {
  int gpu = 0, multiprocessors = 0;
  auto status = cudaGetDevice(&gpu);
  if (status == cudaSuccess) {
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu);
  }
  blocks = std::max(1, multiprocessors / tiling.cluster) * tiling.cluster;
  return status;
}

// Handles K = 0: a tensor map cannot describe an empty operand, so C is set to zeros directly.
cudaError_t clear(const GpuProduct& product, cudaStream_t stream) {
  constexpr std::size_t kBytes = sizeof(float);
  return cudaMemset2DAsync(product.c, static_cast<std::size_t>(product.ldc) * kBytes, 0,
                           static_cast<std::size_t>(product.n) * kBytes,
                           static_cast<std::size_t>(product.m), stream);
}

// The word that receives the note of a wait that timed out; null until a rung is loaded. It
// lives as long as the process, because kernels may outlive every owner.
std::atomic<std::uint32_t*> host_note = nullptr;

template <class Args>
cudaError_t start(const Tiling& tiling, void (*kernel)(HopperMaps, Args), const Args& args,
                  std::int64_t blocks, cudaStream_t stream) {
  HopperMaps maps{};
  const auto status = make_maps(maps, tiling, args);
  if (status != cudaSuccess) return status;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(tiling.cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = static_cast<unsigned>(tiling.threads());
  config.dynamicSmemBytes = static_cast<std::size_t>(tiling.dynamic_bytes());
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = tiling.cluster > 1 ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, maps, args);
}

cudaError_t set_wait_note() {
  std::uint32_t* note = nullptr;
  if (const auto status = make_wait_note(note); status != cudaSuccess) return status;
  return cudaMemcpyToSymbol(hopper::wait_note, &note, sizeof note);
}

}  // namespace

cudaError_t make_wait_note(std::uint32_t*& note) {
  static std::mutex making;
  const std::lock_guard lock(making);
  if (host_note == nullptr) {
    void* memory = nullptr;
    const auto status = cudaHostAlloc(&memory, sizeof(std::uint32_t), cudaHostAllocPortable);
    if (status != cudaSuccess) return status;
    host_note = new (memory) std::uint32_t(0);
  }
  note = host_note;
  return cudaSuccess;
}

cudaError_t load_hopper(const CudaRung& rung) {
  const auto status = set_wait_note();
  if (status != cudaSuccess) return status;
  return with_type<Ladder, true>(rung, [](auto type) {
    using Type = decltype(type);
    return load_kernels(Type::kRung.tiling.dynamic_bytes(), rung_kernel<Type>);
  });
}

cudaError_t launch_hopper(const CudaRung& rung, const GpuProduct& product, cudaStream_t stream) {
  std::int64_t blocks = blocks_of(rung.tiling, product.m, product.n);
  if (blocks == 0) return cudaSuccess;
  if (product.k == 0) return clear(product, stream);
  if (rung.persistent) {
    std::int64_t most = 0;
    const auto status = count_resident(rung.tiling, most);
    if (status != cudaSuccess) return status;
    blocks = std::min(blocks, most);
  }
  return with_type<Ladder, true>(rung, [&](auto type) {
    using Type = decltype(type);
    return start(rung.tiling, rung_kernel<Type>, args_of<ArgsOf<Type>>(product), blocks, stream);
  });
}

std::string describe_stall() {
  const volatile std::uint32_t* const note = host_note;
  return note == nullptr ? std::string() : describe_stalled_wait(*note);
}

}  // namespace lab::cuda_matmul
