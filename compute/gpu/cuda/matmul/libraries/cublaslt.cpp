#include "compute/gpu/cuda/matmul/libraries/cublaslt.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compute/core/language.h"

namespace lab::cuda {
namespace {

// The largest power of two that divides the address, in bytes, at most the 256 that the library
// uses.
std::uint32_t alignment_of(const void* address) {
  constexpr int kMax = 256;
  const int zeros = std::countr_zero(reinterpret_cast<std::uintptr_t>(address));
  return 1U << std::min(zeros, std::countr_zero(static_cast<unsigned>(kMax)));
}

Error no_algorithm(Precision precision, const GpuProduct& product) {
  return {Errc::Unsupported,
          trf("cublasLt's heuristics have no algorithm for {} [{},{}] times [{},{}] with lda {}, "
              "ldb {}, ldc {}, addresses aligned to {}, {} and {} bytes",
              to_string(precision), product.m, product.k, product.k, product.n, product.lda,
              product.ldb, product.ldc, alignment_of(product.a), alignment_of(product.b),
              alignment_of(product.c))};
}

}  // namespace

CublasLt::CublasLt(std::unique_ptr<LibraryGpu> gpu, std::vector<std::string> files)
    : gpu_(std::move(gpu)),
      library_({"cublasLt", "cublasLtGetProperty", "cublasLtGetStatusString"}, std::move(files),
               *gpu_),
      workspaces_(*gpu_) {}

void CublasLt::start() {
  gpu_->use();
  if (handle_ != nullptr) return;
  library_.open();
  library_.find("cublasLtCreate", call_.create);
  library_.find("cublasLtDestroy", call_.destroy);
  library_.find("cublasLtMatmulDescCreate", call_.make_operation);
  library_.find("cublasLtMatmulDescDestroy", call_.end_operation);
  library_.find("cublasLtMatrixLayoutCreate", call_.make_layout);
  library_.find("cublasLtMatrixLayoutDestroy", call_.end_layout);
  library_.find("cublasLtMatmulPreferenceCreate", call_.make_preference);
  library_.find("cublasLtMatmulPreferenceDestroy", call_.end_preference);
  library_.find("cublasLtMatmulPreferenceSetAttribute", call_.set_preference);
  library_.find("cublasLtMatmulAlgoGetHeuristic", call_.choose);
  library_.find("cublasLtMatmul", call_.matmul);
  cublasLtHandle_t made = nullptr;
  library_.check(call_.create(&made), "cublasLtCreate");
  handle_ = {made, {gpu_.get(), call_.destroy}};
}

std::optional<std::string> CublasLt::unavailable() {
  const std::lock_guard lock(mutex_);
  return reason_of([this] { start(); });
}

std::optional<std::string> CublasLt::unsupported(Precision precision, const GpuProduct& product) {
  const std::lock_guard lock(mutex_);
  return reason_of([&] {
    start();
    if (auto why = overridden(precision)) throw Error(Errc::Unsupported, *why);
    if (!needs_operands(product)) return;
    if (!plan_for(precision, in_columns(product)).algorithm) throw no_algorithm(precision, product);
  });
}

void CublasLt::multiply(Precision precision, const GpuProduct& product, cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  start();
  if (const auto why = overridden(precision)) throw Error(Errc::Unsupported, *why);
  if (done_without_operands(*gpu_, product, stream)) return;
  const GpuProduct columns = in_columns(product);
  const Plan& plan = plan_for(precision, columns);
  if (!plan.algorithm) throw no_algorithm(precision, product);
  const float one = 1, zero = 0;
  library_.check(
      call_.matmul(handle_.get(), plan.operation.get(), &one, columns.a, plan.a.get(), columns.b,
                   plan.b.get(), &zero, columns.c, plan.c.get(), columns.c, plan.c.get(),
                   &*plan.algorithm, workspaces_.of(stream), kWorkspaceBytes, stream),
      "cublasLtMatmul");
}

CublasLt::Question CublasLt::question_of(Precision precision, const GpuProduct& columns) {
  return {.precision = precision,
          .m = columns.m,
          .n = columns.n,
          .k = columns.k,
          .lda = columns.lda,
          .ldb = columns.ldb,
          .ldc = columns.ldc,
          .align_a = alignment_of(columns.a),
          .align_b = alignment_of(columns.b),
          .align_c = alignment_of(columns.c)};
}

const CublasLt::Plan& CublasLt::plan_for(Precision precision, const GpuProduct& columns) {
  const Question asked = question_of(precision, columns);
  if (plan_ && plan_->question == asked) return *plan_;
  const cudaDataType_t operands = types_of(precision).operands;
  Plan plan{asked,
            make_operation(precision),
            make_layout(operands, asked.m, asked.k, asked.lda),
            make_layout(operands, asked.k, asked.n, asked.ldb),
            make_layout(CUDA_R_32F, asked.m, asked.n, asked.ldc),
            std::nullopt};
  plan.algorithm = choose(plan);
  return plan_.emplace(std::move(plan));
}

CublasLt::Operation CublasLt::make_operation(Precision precision) const {
  cublasLtMatmulDesc_t made = nullptr;
  library_.check(call_.make_operation(&made, types_of(precision).compute, CUDA_R_32F),
                 "cublasLtMatmulDescCreate");
  return {made, call_.end_operation};
}

CublasLt::Layout CublasLt::make_layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                                       std::int64_t ld) const {
  cublasLtMatrixLayout_t made = nullptr;
  library_.check(call_.make_layout(&made, type, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), ld),
                 "cublasLtMatrixLayoutCreate");
  return {made, call_.end_layout};
}

CublasLt::Preference CublasLt::make_preference(const Question& question) const {
  cublasLtMatmulPreference_t made = nullptr;
  library_.check(call_.make_preference(&made), "cublasLtMatmulPreferenceCreate");
  Preference preference{made, call_.end_preference};
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    library_.check(call_.set_preference(made, attribute, &value, sizeof(value)),
                   "cublasLtMatmulPreferenceSetAttribute");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kWorkspaceBytes));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, question.align_a);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, question.align_b);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, question.align_c);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, question.align_c);
  return preference;
}

std::optional<cublasLtMatmulAlgo_t> CublasLt::choose(const Plan& plan) const {
  const Preference preference = make_preference(plan.question);
  cublasLtMatmulHeuristicResult_t first = {};
  int found = 0;
  const cublasStatus_t status =
      call_.choose(handle_.get(), plan.operation.get(), plan.a.get(), plan.b.get(), plan.c.get(),
                   plan.c.get(), preference.get(), 1, &first, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return std::nullopt;
  library_.check(status, "cublasLtMatmulAlgoGetHeuristic");
  if (found == 0 || first.state != CUBLAS_STATUS_SUCCESS) return std::nullopt;
  return first.algo;
}

}  // namespace lab::cuda
