#pragma once
// Chooses how the gradients of a trainer's replicas are summed.
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compute/core/events/command.h"
#include "compute/gpu/nccl/nccl_library.h"
#include "compute/run/rank_group.h"
#include "compute/train/data_parallel/gpu_reducer.h"
#include "compute/train/data_parallel/gradient_reducer.h"
#include "compute/train/data_parallel/replica.h"

namespace lab {

struct SumOptions {
  GradientSum way = GradientSum::Auto;
  // Used instead of the installed library, on emulated GPUs as well.
  std::optional<nccl::Library> nccl = {};
};

// NCCL, or why it cannot sum on GPUs like this one.
Maybe<nccl::Library> find_nccl(Device gpu, const SumOptions& options);

struct ReducerChoice {
  std::unique_ptr<GradientReducer> reducer;
  // Where the gradients of GPUs are summed, and why; empty without GPUs.
  std::string remark;
  GpuReducer* on_gpus = nullptr;  // the reducer, if GPUs sum
};

// Throws Error(Unsupported) with the reason where NCCL is requested and cannot sum for all of these
// replicas, whether or not all of them take part.
void require_sums(std::span<Replica* const> replicas, const SumOptions& options, RankGroup& ranks);

// GPUs of one kind in one process sum in their own memory, all other devices in host memory. The
// replicas must outlive the reducer. Throws Error(Unsupported) with the reason where NCCL is
// requested and cannot be used.
ReducerChoice make_reducer(std::span<Replica* const> replicas,
                           std::span<const GradientBucket> buckets, const SumOptions& options,
                           RankGroup& ranks);

}  // namespace lab
