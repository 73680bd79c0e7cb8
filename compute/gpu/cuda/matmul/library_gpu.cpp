#include "compute/gpu/cuda/matmul/library_gpu.h"

#include <fmt/format.h>

#include <exception>
#include <memory>

#include "compute/core/units.h"
#include "compute/gpu/cuda/device/cuda_context.h"
#include "compute/gpu/cuda/matmul/cublas.h"
#include "compute/gpu/cuda/matmul/cublaslt.h"

namespace lab::cuda {
namespace {

// By the CUDA runtime.
class RuntimeGpu final : public LibraryGpu {
 public:
  explicit RuntimeGpu(const CudaContext& gpu) : gpu_(gpu) {}

  void use() override { gpu_.use(); }

  bool use_quietly() noexcept override {
    try {
      gpu_.use();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  void* allocate(std::int64_t bytes) override {
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
    if (status == cudaErrorMemoryAllocation) throw out_of_memory(bytes);
    gpu_.check(status, "cudaMalloc");
    return memory;
  }

  void release(void* memory) noexcept override {
    if (use_quietly()) gpu_.note(cudaFree(memory), "cudaFree");
  }

  unsigned long long id_of(cudaStream_t stream) override {
    unsigned long long id = 0;
    gpu_.check(cudaStreamGetId(stream, &id), "cudaStreamGetId");
    return id;
  }

  void clear(const GpuProduct& product, cudaStream_t stream) override {
    constexpr std::size_t kBytes = sizeof(float);
    const auto rows = static_cast<std::size_t>(product.m);
    gpu_.check(cudaMemset2DAsync(product.c, static_cast<std::size_t>(product.ldc) * kBytes, 0,
                                 static_cast<std::size_t>(product.n) * kBytes, rows, stream),
               "cudaMemset2DAsync");
  }

  void wait() override { gpu_.check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

  [[noreturn]] void fail(const std::string& call, const std::string& why) override {
    // The library's answer does not tell whether the context has ended; any question does.
    const cudaError_t status = cudaStreamQuery(nullptr);
    if (ends_context(status)) gpu_.check(status, call.c_str());
    cudaGetLastError();
    throw gpu_failure(gpu_.device(), call, why);
  }

 private:
  Error out_of_memory(std::int64_t bytes) const {
    cudaGetLastError();
    std::size_t free_bytes = 0, total_bytes = 0;
    gpu_.check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    return {Errc::OutOfMemory,
            fmt::format("{}: the matrix library's workspace of {} found no memory: the GPU has {} "
                        "free of {}; free some tensors, or end other programs that use it",
                        to_string(gpu_.device()), format_bytes(bytes),
                        format_bytes(static_cast<std::int64_t>(free_bytes)),
                        format_bytes(static_cast<std::int64_t>(total_bytes)))};
  }

  const CudaContext& gpu_;
};

}  // namespace

// Here, so that the libraries' own files know the seam alone.
Cublas::Cublas(const CudaContext& gpu) : Cublas(std::make_unique<RuntimeGpu>(gpu)) {}
CublasLt::CublasLt(const CudaContext& gpu) : CublasLt(std::make_unique<RuntimeGpu>(gpu)) {}

}  // namespace lab::cuda
