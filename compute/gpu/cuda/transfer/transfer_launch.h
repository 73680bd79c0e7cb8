#pragma once
// Launches of the kernels that measure transfers.
#include <cuda_runtime_api.h>

#include "compute/gpu/cuda/transfer/transfer_args.h"

namespace lab::cuda {

// Work     launch_copy: one read and one write of each word; launch_fill: one write;
//          launch_mismatches: one read; launch_chase: `hops` dependent reads by one thread;
//          launch_work: 64 FLOP a thread and round; launch_gate: looks at `open`, sleeping between
// Limits   words, hops, rounds >= 0; blocks >= 1; nothing is launched for no words
// Numerics words are moved and compared bit by bit
// Async    on `stream`
// Errors   the launch's status
// Source   method: NVIDIA nvbandwidth

// Loads all of them: a kernel loaded when it is first launched waits for the GPU, which behind a
// closed gate would be for ever.
cudaError_t load_transfer_kernels();

cudaError_t launch_gate(const std::uint32_t* open, const GateArgs& args, cudaStream_t stream);
cudaError_t launch_copy(const WordCopyArgs& args, int blocks, cudaStream_t stream);
cudaError_t launch_fill(const PatternArgs& args, int blocks, cudaStream_t stream);
cudaError_t launch_mismatches(const MismatchArgs& args, int blocks, cudaStream_t stream);
cudaError_t launch_chase(const ChaseArgs& args, cudaStream_t stream);
cudaError_t launch_work(const WorkArgs& args, int blocks, cudaStream_t stream);

}  // namespace lab::cuda
