#pragma once
// Parts of the lesson "allreduce": sums in one process, on GPUs and over ranks.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/experiments/lessons/lesson.h"
#include "compute/train/data_parallel/reducer_choice.h"

namespace lab::lessons {

inline constexpr std::int64_t kSumElements = std::int64_t{1} << 20;  // float32 per device: 4 MiB

// The values of one device: small whole numbers, so that every sum is exact.
std::vector<float> array_to_sum(std::size_t device, std::int64_t elements);
// The sum of the values of all `devices`.
std::vector<float> exact_sum(std::size_t devices, std::int64_t elements);

// Star and ring on one value per chunk, `values[device][chunk]`, to be looked at.
void show_sums(LessonStage& stage, const std::vector<std::vector<float>>& values);

// Where the machine has several GPUs, sums arrays in their memory, by copies between them and by
// NCCL, or reports why NCCL cannot be used. Emulated GPUs are not timed.
void sum_over_gpus(LessonStage& stage, const SumOptions& options = {});

// Runs the lesson on all ranks.
void sum_over_ranks(LessonStage& stage);

}  // namespace lab::lessons
