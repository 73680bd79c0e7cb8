#pragma once
// Matrix products on a GPU: the rungs of its ladder, libraries among them, and the ceiling.
//
// Errors   as in gpu_backend.h
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "compute/core/dtype.h"

namespace lab {

class GpuStream;

// A way to multiply. A library that takes several precisions is one rung for each, of one name.
struct GpuRung {
  const char* name;      // for --kernels
  const char* title;     // for people
  const char* sentence;  // what it adds to the rung before and why that helps
  Precision precision;
  bool library = false;
};

// C = A*B.
//   A [M,K]  B [K,N]  C [M,N] f32   row-major, addresses on the GPU; ld* in elements, at least the
//   row's length; A and B are f32 or the bits of bf16, as the rung's precision has it; C aliases
//   neither
struct GpuProduct {
  std::int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  std::int64_t lda = 0;
  const void* b = nullptr;
  std::int64_t ldb = 0;
  float* c = nullptr;
  std::int64_t ldc = 0;
};

class GpuMatmul {
 public:
  GpuMatmul() = default;
  virtual ~GpuMatmul() = default;
  GpuMatmul(const GpuMatmul&) = delete;
  GpuMatmul& operator=(const GpuMatmul&) = delete;

  // In ladder order, libraries last.
  virtual std::span<const GpuRung> rungs() const = 0;

  // Why the rung cannot compute this product on this GPU, or nothing. The first question about a
  // library opens it, which takes memory on the GPU and up to seconds. Throws
  // Error(InvalidArgument) naming the shapes where no rung could.
  virtual std::optional<std::string> unsupported(const GpuRung& rung,
                                                 const GpuProduct& product) = 0;

  // Asynchronous on `stream`, for a product that unsupported() says nothing against. The first time
  // a rung runs on a stream it may wait for the GPU (kernels are loaded, a library takes its
  // workspace), so not behind a closed gate; after that it never does, as long as no other thread
  // uses a library on this GPU. At most kMostLaunches operations are queued.
  virtual void run(const GpuRung& rung, const GpuProduct& product, GpuStream& stream) = 0;
  static constexpr int kMostLaunches = 4;

  // Multiply-adds from registers or shared memory alone, on every multiprocessor, by the fastest
  // instructions that the GPU has for the precision, with random factors. Queues work for a time
  // in proportion to `rounds` and returns its floating-point operations. Asynchronous, as run().
  // Nothing where the GPU has no such instructions.
  virtual std::optional<double> run_peak(Precision precision, std::int64_t rounds,
                                         GpuStream& stream) = 0;
};

}  // namespace lab
