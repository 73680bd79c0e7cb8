#include "compute/gpu/cuda/matmul/libraries/cublas.h"

#include <utility>

namespace lab::cuda {

Cublas::Cublas(std::unique_ptr<LibraryGpu> gpu, std::vector<std::string> files)
    : gpu_(std::move(gpu)),
      library_({"cuBLAS", "cublasGetProperty", "cublasGetStatusString"}, std::move(files), *gpu_),
      workspaces_(*gpu_) {}

// Detaches the handle from its last stream, which may have been destroyed already.
Cublas::~Cublas() {
  if (handle_ != nullptr && gpu_->use_quietly()) call_.set_stream(handle_.get(), nullptr);
}

void Cublas::start() {
  gpu_->use();
  if (handle_ != nullptr) return;
  library_.open();
  library_.find("cublasCreate_v2", call_.create);
  library_.find("cublasDestroy_v2", call_.destroy);
  library_.find("cublasSetStream_v2", call_.set_stream);
  library_.find("cublasSetWorkspace_v2", call_.set_workspace);
  library_.find("cublasGemmEx_64", call_.gemm);
  cublasHandle_t made = nullptr;
  library_.check(call_.create(&made), "cublasCreate");
  handle_ = {made, {gpu_.get(), call_.destroy}};
}

std::optional<std::string> Cublas::unavailable() {
  const std::lock_guard lock(mutex_);
  return reason_of([this] { start(); });
}

std::optional<std::string> Cublas::unsupported(Precision precision, const GpuProduct&) {
  if (auto why = unavailable()) return why;
  return overridden(precision);
}

void Cublas::multiply(Precision precision, const GpuProduct& product, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  start();
  if (const auto why = overridden(precision)) throw Error(Errc::Unsupported, *why);
  if (done_without_operands(*gpu_, product, stream)) return;
  void* const workspace = workspaces_.of(stream);
  library_.check(call_.set_stream(handle_.get(), stream), "cublasSetStream");
  // Set for every product, because setting a stream restores the library's own workspace.
  library_.check(call_.set_workspace(handle_.get(), workspace, kWorkspaceBytes),
                 "cublasSetWorkspace");
  const auto [operands, compute] = types_of(precision);
  const GpuProduct columns = in_columns(product);
  const float one = 1, zero = 0;
  library_.check(
      call_.gemm(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, columns.m, columns.n, columns.k, &one,
                 columns.a, operands, columns.lda, columns.b, operands, columns.ldb, &zero,
                 columns.c, CUDA_R_32F, columns.ldc, compute, CUBLAS_GEMM_DEFAULT),
      "cublasGemmEx");
}

}  // namespace lab::cuda
