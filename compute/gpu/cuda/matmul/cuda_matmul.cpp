#include "compute/gpu/cuda/matmul/cuda_matmul.h"

#include <string_view>

#include "compute/gpu/cuda/device/handles.h"
#include "compute/gpu/cuda/matmul/launch.h"
#include "compute/gpu/cuda/matmul/peak.h"

namespace lab::cuda {
namespace {

// Of the two libraries; throws Error(NotFound) for a name that neither has.
template <class Call>
auto with_library(const GpuRung& rung, Cublas& cublas, CublasLt& cublaslt, const Call& call) {
  const std::string_view name = rung.name;
  if (name == "cublas") return call(cublas);
  if (name == "cublaslt") return call(cublaslt);
  throw Error(Errc::NotFound, "matmul: the CUDA ladder has no rung \"" + std::string(name) + "\"");
}

}  // namespace

CudaMatmul::CudaMatmul(const CudaContext& gpu, const GpuProperties& facts)
    : gpu_(gpu), facts_(facts), cublas_(gpu), cublaslt_(gpu) {}

std::optional<std::string> CudaMatmul::unsupported(const GpuRung& rung, const GpuProduct& product) {
  if (auto why = lab::unsupported(rung, product, facts_)) return why;
  if (own_rung(rung) != nullptr) return std::nullopt;
  return with_library(rung, cublas_, cublaslt_,
                      [&](auto& library) { return library.unsupported(rung.precision, product); });
}

void CudaMatmul::run(const GpuRung& rung, const GpuProduct& product, GpuStream& stream) {
  if (const CudaRung* own = own_rung(rung)) {
    run_own(*own, product, stream);
    return;
  }
  with_library(rung, cublas_, cublaslt_,
               [&](auto& library) { library.multiply(rung.precision, product, raw(stream)); });
}

void CudaMatmul::run_own(const CudaRung& rung, const GpuProduct& product, GpuStream& stream) {
  gpu_.use();
  const auto code = cuda_matmul::code_of(rung.kernel);
  std::call_once(loaded_.at(static_cast<std::size_t>(rung.kernel)),
                 [&] { gpu_.check(code.load(), "load a kernel of matmul"); });
  const cudaError_t status = code.launch(product, raw(stream));
  if (status != cudaSuccess) {
    gpu_.check(status, ("matmul by " + std::string(rung.name)).c_str());
  }
}

std::optional<double> CudaMatmul::run_peak(Precision precision, std::int64_t rounds,
                                           GpuStream& stream) {
  const auto code = cuda_matmul::peak_of(precision, facts_);
  if (!code) return std::nullopt;
  if (rounds <= 0) return 0;
  gpu_.use();
  std::call_once(peak_loaded_.at(static_cast<std::size_t>(precision)),
                 [&] { gpu_.check(code->load(), "load the kernel of the peak"); });
  gpu_.check(code->launch(rounds, facts_.multiprocessors, raw(stream)), "matmul's peak");
  return code->round_flop * facts_.multiprocessors * static_cast<double>(rounds);
}

}  // namespace lab::cuda
