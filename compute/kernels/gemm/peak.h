#pragma once
// Peak throughput of the multiply-add units, the upper limit for every kernel.
#include <cstdint>

#include "compute/core/events/event.h"
#include "compute/machine/thread_pool.h"
#include "compute/measure/measure.h"

namespace lab {

// Runs independent chains of fused multiply-adds in registers on the calling thread, with the
// widest vectors available and enough chains to hide the latency. Returns the number of
// floating-point operations. `seed` and `*result`, a mean near 2 * seed, keep the compiler from
// removing the work.
double fma_loop(std::int64_t iterations, float seed, float* result);

// Measures the peak on all threads of `pool` at once, or on the calling thread if null. With
// several threads it is the sum of their own rates (compute/measure/own_rates.h), so that a slow
// core does not hide what faster ones reach. `gflops` is that of the fastest repetition, since it
// is an upper limit; times are those in which the threads complete a repetition's work at their
// rates. For BF16, the multiply-adds of bf16_kernels().
PeakSample measure_peak(Device device, ThreadPool* pool, const MeasureOptions& options,
                        Precision products = Precision::F32);

}  // namespace lab
