#include "compute/gpu/cuda/matmul/libraries/blas_library.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "compute/core/language.h"

namespace lab::cuda {
namespace {

// Supported major versions: the functions that the lab calls are identical in both.
constexpr int kOldest = 12, kNewest = 13;

// Null if the variable is not set.
const char* environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

BlasLibrary::BlasLibrary(const BlasName& name, std::vector<std::string> files, LibraryGpu& gpu)
    : name_(name), files_(std::move(files)), gpu_(gpu) {}

void BlasLibrary::open() {
  if (words_ != nullptr) return;
  library_ = DynamicLibrary::open(files_);
  if (!library_) {
    throw Error(Errc::Unsupported, trf("{} cannot be opened: {}; install CUDA's libraries, or add "
                                       "their folder to LD_LIBRARY_PATH",
                                       name_.title, library_.reason()));
  }
  require_known_version();
  find(name_.words, words_);
}

void BlasLibrary::require_known_version() const {
  decltype(&cublasGetProperty) property = nullptr;
  find(name_.property, property);
  int major = 0;
  check(property(MAJOR_VERSION, &major), name_.property);
  if (major >= kOldest && major <= kNewest) return;
  throw Error(Errc::Unsupported, trf("{} is {} {}; device-lab works with {} to {}",
                                     library_->name(), name_.title, major, kOldest, kNewest));
}

Error BlasLibrary::lacks(const char* symbol) const {
  return {Errc::Unsupported, trf("{} has no function {}; device-lab works with {} {} to {}",
                                 library_->name(), symbol, name_.title, kOldest, kNewest)};
}

void BlasLibrary::check(cublasStatus_t status, const char* call) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  gpu_.fail(call, words_ != nullptr
                      ? trf("{} (status {})", words_(status), static_cast<int>(status))
                      : trf("status {}", static_cast<int>(status)));
}

std::optional<std::string> overridden(Precision precision) {
  constexpr const char* kTf32 = "NVIDIA_TF32_OVERRIDE";
  constexpr const char* kEmulate = "CUBLAS_EMULATE_SINGLE_PRECISION";
  const char* const tf32 = environment(kTf32);
  const char* const emulate = environment(kEmulate);
  const auto is_off = [](const char* value) { return std::string_view(value) == "0"; };
  if (precision == Precision::F32) {
    if (tf32 != nullptr && !is_off(tf32)) {
      return trf(
          "{}={} in the environment lets the library round f32 to tf32; start device-lab without "
          "it",
          kTf32, tf32);
    }
    if (emulate != nullptr && !is_off(emulate)) {
      return trf(
          "{}={} in the environment lets the library compute f32 from bf16; start device-lab "
          "without it",
          kEmulate, emulate);
    }
  }
  if (precision == Precision::TF32 && tf32 != nullptr && is_off(tf32)) {
    return trf(
        "{}={} in the environment turns tf32 off in the library; start device-lab without it",
        kTf32, tf32);
  }
  return std::nullopt;
}

BlasTypes types_of(Precision precision) {
  switch (precision) {
    case Precision::BF16: return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case Precision::TF32: return {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case Precision::F32: break;
  }
  return {CUDA_R_32F, CUBLAS_COMPUTE_32F};
}

GpuProduct in_columns(const GpuProduct& product) {
  return {.m = product.n,
          .n = product.m,
          .k = product.k,
          .a = product.b,
          .lda = product.ldb,
          .b = product.a,
          .ldb = product.lda,
          .c = product.c,
          .ldc = product.ldc};
}

bool done_without_operands(LibraryGpu& gpu, const GpuProduct& product, cudaStream_t stream) {
  if (needs_operands(product)) return false;
  if (product.m > 0 && product.n > 0) gpu.clear(product, stream);
  return true;
}

StreamWorkspaces::~StreamWorkspaces() {
  for (const Piece& piece : pieces_) gpu_.release(piece.memory);
}

void* StreamWorkspaces::of(cudaStream_t stream) {
  const auto id = gpu_.id_of(stream);
  for (const Piece& piece : pieces_) {
    if (piece.stream == id) return piece.memory;
  }
  if (pieces_.size() < kMaxStreams) {
    pieces_.reserve(kMaxStreams);
    pieces_.push_back({id, gpu_.allocate(kWorkspaceBytes)});
    held_bytes_ += kWorkspaceBytes;
    return pieces_.back().memory;
  }
  gpu_.wait();  // the piece's previous stream may still use it
  Piece& piece = pieces_[oldest_];
  oldest_ = (oldest_ + 1) % kMaxStreams;
  piece.stream = id;
  return piece.memory;
}

}  // namespace lab::cuda
