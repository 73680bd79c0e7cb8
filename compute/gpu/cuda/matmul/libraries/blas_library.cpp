#include "compute/gpu/cuda/matmul/libraries/blas_library.h"

#include <utility>

#include "compute/core/language.h"

namespace lab::cuda {
namespace {

// Supported major versions: the functions that the lab calls are identical in both.
constexpr int kOldest = 12, kNewest = 13;

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
