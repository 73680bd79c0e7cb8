#include "compute/gpu/cuda/transfer/cuda_transfers.h"

#include <algorithm>
#include <atomic>

#include "compute/gpu/cuda/device/handles.h"
#include "compute/gpu/cuda/transfer/transfer_kernels.cuh"

namespace lab::cuda {
namespace {

// 2048 threads, the maximum per SM, in blocks of kTransferThreads.
constexpr int kBlocksPerSm = 2048 / kTransferThreads;
// For the copy kernel, whose threads use 40 of an SM's 65536 registers each.
constexpr int kCopyBlocksAMultiprocessor = 6;
// About two seconds of polls over the link: each takes a microsecond or two, plus one of sleep.
constexpr std::int64_t kMaxLooks = 1'000'000;

constexpr unsigned kGateSleep_ns = 1000;

// The host may write the word at any time: each poll reads it again, and the thread sleeps between
// polls so that polling does not load the link.
struct LookAtHost {
  const volatile std::uint32_t* open;
  __device__ bool operator()() const {
    if (*open != 0) return true;
    __nanosleep(kGateSleep_ns);
    return false;
  }
};

__global__ void gate_kernel(const std::uint32_t* open, GateArgs args) {
  gate_body(args, LookAtHost{open});
}
__global__ void __launch_bounds__(kTransferThreads) copy_kernel(WordCopyArgs args) {
  copy_body(args);
}
__global__ void __launch_bounds__(kTransferThreads) fill_kernel(PatternArgs args) {
  fill_body(args);
}
__global__ void __launch_bounds__(kTransferThreads) mismatches_kernel(MismatchArgs args) {
  mismatches_body(args);
}
__global__ void chase_kernel(ChaseArgs args) {
  chase_body(args);
}
__global__ void __launch_bounds__(kTransferThreads) work_kernel(WorkArgs args) {
  work_body(args);
}

template <typename... Kernels>
cudaError_t load(Kernels*... kernels) {
  cudaFuncAttributes told{};
  cudaError_t status = cudaSuccess;
  const auto load_one = [&](const void* kernel) {
    if (status == cudaSuccess) status = cudaFuncGetAttributes(&told, kernel);
  };
  (load_one(reinterpret_cast<const void*>(kernels)), ...);
  return status;
}

// Loads all kernels in advance: a kernel loaded at its first launch waits for the GPU, which
// deadlocks behind a closed gate.
cudaError_t load_transfer_kernels() {
  return load(gate_kernel, copy_kernel, fill_kernel, mismatches_kernel, chase_kernel, work_kernel);
}

class CudaGate final : public GpuGate {
 public:
  explicit CudaGate(const CudaContext& gpu) : gpu_(gpu), words_(gpu, 2 * sizeof(std::uint32_t)) {
    std::atomic_ref(word(0)).store(1);
    std::atomic_ref(word(1)).store(0);
  }

  void close(GpuStream& stream) override {
    gpu_.use();
    std::atomic_ref(word(0)).store(0);
    std::atomic_ref(word(1)).store(0);
    gate_kernel<<<1, 1, 0, raw(stream)>>>(&word(0),
                                          {.timed_out = &word(1), .max_polls = kMaxLooks});
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) open();
    gpu_.check(status, "gate");
  }
  void open() noexcept override { std::atomic_ref(word(0)).store(1); }
  bool timed_out() const override { return std::atomic_ref(word(1)).load() != 0; }

 private:
  // Word 0: open, written by the host. Word 1: timed out, written by the GPU.
  std::uint32_t& word(int i) const { return reinterpret_cast<std::uint32_t*>(at_)[i]; }

  const CudaContext& gpu_;
  CudaPinned words_;
  std::byte* const at_ = words_.data();
};

}  // namespace

CudaTransfers::CudaTransfers(const CudaContext& gpu, int multiprocessors)
    : gpu_(gpu), multiprocessors_(std::max(1, multiprocessors)) {}

// Blocks with one thread per piece, at most `on_each` per SM.
int CudaTransfers::blocks_for(std::int64_t pieces, int on_each) const {
  const std::int64_t needed = (pieces + kTransferThreads - 1) / kTransferThreads;
  return static_cast<int>(std::clamp<std::int64_t>(needed, 1, multiprocessors_ * on_each));
}

std::unique_ptr<GpuGate> CudaTransfers::make_gate() {
  gpu_.use();
  gpu_.check(load_transfer_kernels(), "loading the transfer kernels");
  return std::make_unique<CudaGate>(gpu_);
}

void CudaTransfers::copy_by_kernel(std::uint32_t* to, const std::uint32_t* from, std::int64_t words,
                                   int sharers, GpuStream& stream) {
  gpu_.use();
  if (words == 0) return;
  const int on_each = std::max(1, kCopyBlocksAMultiprocessor / sharers);
  copy_kernel<<<blocks_for(words / 4, on_each), kTransferThreads, 0, raw(stream)>>>(
      {.from = from, .to = to, .words = words});
  gpu_.check(cudaGetLastError(), "copy by kernel");
}

void CudaTransfers::fill_pattern(std::uint32_t* to, std::int64_t words, std::uint32_t seed,
                                 GpuStream& stream) {
  gpu_.use();
  if (words == 0) return;
  fill_kernel<<<blocks_for(words, kBlocksPerSm), kTransferThreads, 0, raw(stream)>>>(
      {.to = to, .words = words, .seed = seed});
  gpu_.check(cudaGetLastError(), "pattern fill");
}

void CudaTransfers::count_mismatches(const std::uint32_t* at, std::int64_t words,
                                     std::uint32_t seed, std::uint64_t* count, GpuStream& stream) {
  gpu_.use();
  if (words == 0) return;
  mismatches_kernel<<<blocks_for(words, kBlocksPerSm), kTransferThreads, 0, raw(stream)>>>(
      {.at = at, .words = words, .seed = seed, .count = count});
  gpu_.check(cudaGetLastError(), "mismatch count");
}

void CudaTransfers::chase(const std::uint32_t* next, std::uint32_t* position, std::int64_t hops,
                          GpuStream& stream) {
  gpu_.use();
  chase_kernel<<<1, 1, 0, raw(stream)>>>({.next = next, .position = position, .hops = hops});
  gpu_.check(cudaGetLastError(), "pointer chase");
}

void CudaTransfers::work(std::int64_t rounds, float* sink, GpuStream& stream) {
  gpu_.use();
  work_kernel<<<multiprocessors_ * kBlocksPerSm, kTransferThreads, 0, raw(stream)>>>(
      {.sink = sink, .rounds = rounds});
  gpu_.check(cudaGetLastError(), "work");
}

std::int64_t CudaTransfers::work_words() const {
  return std::int64_t{multiprocessors_} * kBlocksPerSm * kTransferThreads;
}

}  // namespace lab::cuda
