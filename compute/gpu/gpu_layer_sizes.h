#pragma once
// Checks the sizes of layer operations (gpu_layers.h) before anything is launched.
#include "compute/gpu/gpu_layers.h"

namespace lab {

// Each throws Error(InvalidArgument), naming the operation and the offending size, unless all sizes
// are positive, fit each other, and give arrays of at most 2^31 - 1 elements.
void check_sizes(const GpuImageOrder& order);
void check_sizes(const GpuGather& gather);
void check_sizes(const GpuConvolution& convolution);
// Also throws where x or y is not FP32.
void check_f32(const GpuConvolution& convolution);
void check_sizes(const GpuBatchNorm& norm);
void check_sizes(const GpuActivate& activation);
void check_sizes(const GpuAveragePool& pool);
void check_sizes(const GpuFlatten& flatten);
void check_sizes(const GpuLoss& loss);
void check_sizes(const GpuSgd& sgd);
void check_sizes(const GpuRounding& rounding);

}  // namespace lab
