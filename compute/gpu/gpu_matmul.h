#pragma once
// Matrix products on a GPU: the rungs of its ladder, which include libraries, and the measured
// peak.
//
// Errors   as in gpu_backend.h
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "compute/core/dtype.h"

namespace lab {

class GpuStream;
struct RungInfo;  // compute/core/events/event.h

// C = A*B.
//   A [M,K]  B [K,N]  C [M,N] f32   row-major, device addresses; ld* in elements, at least the
//   row's length; A and B are f32 or bf16 bits, according to the rung's precision; C aliases
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

  // In ladder order, libraries last. Each takes one precision: a library that supports several has
  // one rung per precision, all with the same name. Their device is not set.
  virtual std::span<const RungInfo> rungs() const = 0;

  // Returns why the rung cannot compute this product on this GPU, or nothing if it can. The first
  // query about a library loads it, which allocates GPU memory and takes up to several seconds.
  // Throws Error(InvalidArgument) naming the shapes if no rung can compute the product.
  virtual std::optional<std::string> unsupported(const RungInfo& rung,
                                                 const GpuProduct& product) = 0;

  // Asynchronous on `stream`. Requires that unsupported() returns nothing for the product. The
  // first run of a rung on a stream may wait for the GPU (kernels are loaded, a library allocates
  // its workspace) and must not be queued behind a closed gate. Later runs never wait, provided
  // that no other thread uses a library on this GPU. Queues at most kMaxLaunches operations.
  virtual void run(const RungInfo& rung, const GpuProduct& product, GpuStream& stream) = 0;
  static constexpr int kMaxLaunches = 4;

  // Runs multiply-adds from registers or shared memory only, on every SM, with the fastest
  // instructions that the GPU has for the precision and with random operands. The run time is
  // proportional to `rounds`. Asynchronous, like run(). Returns the number of floating-point
  // operations queued, or nothing if the GPU has no such instructions.
  virtual std::optional<double> run_peak(Precision precision, std::int64_t rounds,
                                         GpuStream& stream) = 0;
};

}  // namespace lab
