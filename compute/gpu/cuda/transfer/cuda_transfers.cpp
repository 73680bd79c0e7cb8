#include "compute/gpu/cuda/transfer/cuda_transfers.h"

#include <algorithm>
#include <atomic>

#include "compute/gpu/cuda/device/handles.h"
#include "compute/gpu/cuda/transfer/transfer_launch.h"

namespace lab::cuda {
namespace {

// 2048 threads, the most that a multiprocessor holds, in blocks of kTransferThreads.
constexpr int kBlocksAMultiprocessor = 2048 / kTransferThreads;
// Of the kernel that copies, whose threads have 40 registers of a multiprocessor's 65536.
constexpr int kCopyBlocksAMultiprocessor = 6;
// About two seconds of looks through the link, a microsecond or two each and one asleep.
constexpr std::int64_t kMostLooks = 1'000'000;

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
    const cudaError_t status =
        launch_gate(&word(0), {.gave_up = &word(1), .most_looks = kMostLooks}, raw(stream));
    if (status != cudaSuccess) open();
    gpu_.check(status, "gate");
  }
  void open() noexcept override { std::atomic_ref(word(0)).store(1); }
  bool gave_up() const override { return std::atomic_ref(word(1)).load() != 0; }

 private:
  // 0: open, written by the host; 1: gave up, written by the GPU.
  std::uint32_t& word(int i) const { return reinterpret_cast<std::uint32_t*>(at_)[i]; }

  const CudaContext& gpu_;
  CudaPinned words_;
  std::byte* const at_ = words_.data();
};

}  // namespace

CudaTransfers::CudaTransfers(const CudaContext& gpu, int multiprocessors)
    : gpu_(gpu), multiprocessors_(std::max(1, multiprocessors)) {}

// As many threads as there are pieces to do, or as `on_each` blocks on every multiprocessor have.
int CudaTransfers::blocks_for(std::int64_t pieces, int on_each) const {
  const std::int64_t needed = (pieces + kTransferThreads - 1) / kTransferThreads;
  return static_cast<int>(std::clamp<std::int64_t>(needed, 1, multiprocessors_ * on_each));
}

std::unique_ptr<GpuGate> CudaTransfers::make_gate() {
  gpu_.use();
  gpu_.check(load_transfer_kernels(), "load the kernels of transfers");
  return std::make_unique<CudaGate>(gpu_);
}

void CudaTransfers::copy_by_kernel(std::uint32_t* to, const std::uint32_t* from, std::int64_t words,
                                   int sharers, GpuStream& stream) {
  gpu_.use();
  const int on_each = std::max(1, kCopyBlocksAMultiprocessor / sharers);
  gpu_.check(launch_copy({.from = from, .to = to, .words = words}, blocks_for(words / 4, on_each),
                         raw(stream)),
             "copy by kernel");
}

void CudaTransfers::fill_pattern(std::uint32_t* to, std::int64_t words, std::uint32_t seed,
                                 GpuStream& stream) {
  gpu_.use();
  gpu_.check(launch_fill({.to = to, .words = words, .seed = seed},
                         blocks_for(words, kBlocksAMultiprocessor), raw(stream)),
             "fill with a pattern");
}

void CudaTransfers::count_mismatches(const std::uint32_t* at, std::int64_t words,
                                     std::uint32_t seed, std::uint64_t* count, GpuStream& stream) {
  gpu_.use();
  gpu_.check(launch_mismatches({.at = at, .words = words, .seed = seed, .count = count},
                               blocks_for(words, kBlocksAMultiprocessor), raw(stream)),
             "count mismatches");
}

void CudaTransfers::chase(const std::uint32_t* next, std::uint32_t* position, std::int64_t hops,
                          GpuStream& stream) {
  gpu_.use();
  gpu_.check(launch_chase({.next = next, .position = position, .hops = hops}, raw(stream)),
             "pointer chase");
}

void CudaTransfers::work(std::int64_t rounds, float* sink, GpuStream& stream) {
  gpu_.use();
  gpu_.check(launch_work({.sink = sink, .rounds = rounds},
                         multiprocessors_ * kBlocksAMultiprocessor, raw(stream)),
             "work");
}

std::int64_t CudaTransfers::work_words() const {
  return std::int64_t{multiprocessors_} * kBlocksAMultiprocessor * kTransferThreads;
}

}  // namespace lab::cuda
