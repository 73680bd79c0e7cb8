#include "compute/gpu/cuda/matmul/cuda_matmul.h"

#include <exception>
#include <memory>

#include "compute/core/language.h"
#include "compute/core/units.h"
#include "compute/gpu/cuda/device/handles.h"
#include "compute/gpu/cuda/matmul/rungs/launch.h"

namespace lab::cuda {
namespace {

// LibraryGpu implemented with the CUDA runtime.
class RuntimeGpu final : public LibraryGpu {
 public:
  explicit RuntimeGpu(const CudaContext& gpu) : gpu_(gpu) {}

  void use() override { gpu_.use(); }

  bool use_quietly() noexcept override { return gpu_.use_quietly(); }

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
    gpu_.fail(call, why);
  }

 private:
  Error out_of_memory(std::int64_t bytes) const {
    cudaGetLastError();
    std::size_t free_bytes = 0, total_bytes = 0;
    gpu_.check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    return {Errc::OutOfMemory,
            trf("{}: the matrix library's workspace of {} does not fit: the GPU has {} free of {}; "
                "free some tensors, or end other programs that use it",
                to_string(gpu_.device()), format_bytes(bytes),
                format_bytes(static_cast<std::int64_t>(free_bytes)),
                format_bytes(static_cast<std::int64_t>(total_bytes)))};
  }

  const CudaContext& gpu_;
};

// Calls `call` with the library that `rung` names. Throws Error(NotFound) if neither library has
// the name.
template <class Call>
auto with_library(const RungInfo& rung, Cublas& cublas, CublasLt& cublaslt, const Call& call) {
  if (rung.name == "cublas") return call(cublas);
  if (rung.name == "cublaslt") return call(cublaslt);
  throw Error(Errc::NotFound, trf("matmul: the CUDA ladder has no rung \"{}\"", rung.name));
}

}  // namespace

// Defined here so that cublas.cpp and cublaslt.cpp depend on LibraryGpu only.
Cublas::Cublas(const CudaContext& gpu) : Cublas(std::make_unique<RuntimeGpu>(gpu)) {}
CublasLt::CublasLt(const CudaContext& gpu) : CublasLt(std::make_unique<RuntimeGpu>(gpu)) {}

CudaMatmul::CudaMatmul(const CudaContext& gpu, const GpuProperties& facts)
    : gpu_(gpu), facts_(facts), cublas_(gpu), cublaslt_(gpu) {}

std::optional<std::string> CudaMatmul::unsupported(const RungInfo& rung,
                                                   const GpuProduct& product) {
  if (auto why = lab::unsupported(rung, product, facts_)) return why;
  if (own_rung(rung) != nullptr) return std::nullopt;
  return with_library(rung, cublas_, cublaslt_, [&](auto& library) {
    return library.unsupported(rung.takes.front(), product);
  });
}

void CudaMatmul::run(const RungInfo& rung, const GpuProduct& product, GpuStream& stream) {
  if (const CudaRung* own = own_rung(rung)) {
    run_own(*own, product, stream);
    return;
  }
  with_library(rung, cublas_, cublaslt_,
               [&](auto& library) { library.multiply(rung.takes.front(), product, raw(stream)); });
}

void CudaMatmul::run_own(const CudaRung& rung, const GpuProduct& product, GpuStream& stream) {
  gpu_.use();
  std::call_once(loaded_.at(static_cast<std::size_t>(&rung - cuda_ladder().data())),
                 [&] { gpu_.check(cuda_matmul::load(rung), tr("loading a matmul kernel")); });
  const cudaError_t status = cuda_matmul::launch(rung, product, raw(stream));
  if (status != cudaSuccess) {
    gpu_.check(status, trf("matmul by {}", rung.name).c_str());
  }
}

std::optional<double> CudaMatmul::run_peak(Precision precision, std::int64_t rounds,
                                           GpuStream& stream) {
  const auto code = cuda_matmul::peak_of(precision, facts_);
  if (!code) return std::nullopt;
  if (rounds <= 0) return 0;
  gpu_.use();
  std::call_once(peak_loaded_.at(static_cast<std::size_t>(precision)),
                 [&] { gpu_.check(code->load(), tr("loading the peak kernel")); });
  gpu_.check(code->launch(rounds, facts_.multiprocessors, raw(stream)), tr("peak kernel"));
  return code->round_flop * facts_.multiprocessors * static_cast<double>(rounds);
}

}  // namespace lab::cuda
