#pragma once
// The ceiling: how many operations a second the multiply-add units can do at all.
#include <cstdint>

#include "compute/core/events/event.h"
#include "compute/machine/thread_pool.h"
#include "compute/measure/measure.h"

namespace lab {

// Independent chains of fused multiply-adds in registers, on the calling thread, with the widest
// vectors there are; enough chains to hide the latency. Returns the floating-point operations done;
// `seed` and `*result`, a mean near 2 * seed, keep the compiler from leaving the work out.
double fma_loop(std::int64_t iterations, float seed, float* result);

// Measures it on all threads of `pool` at once, or on the calling thread for nullptr. `gflops` is
// that of the fastest repetition, because it is a ceiling; the times are those of one repetition.
// For BF16 the multiply-adds are those of bf16_kernels(): two FP32 ones at a time where native.
PeakSample measure_peak(Device device, ThreadPool* pool, const MeasureOptions& options,
                        Precision products = Precision::F32);

}  // namespace lab
