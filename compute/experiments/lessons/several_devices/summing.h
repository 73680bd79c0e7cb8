#pragma once
// Parts of the lesson "allreduce" that sums in one process and over ranks share.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/experiments/lessons/lesson.h"

namespace lab::lessons {

inline constexpr std::int64_t kSumElements = std::int64_t{1} << 20;  // float32 per device: 4 MiB

// The values of one device: small whole numbers, so that every sum is exact.
std::vector<float> array_to_sum(std::size_t device, std::int64_t elements);

// Star and ring on one value per chunk, `values[device][chunk]`, to be looked at.
void show_sums(LessonStage& stage, const std::vector<std::vector<float>>& values);

// Runs the lesson on all ranks.
void sum_over_ranks(LessonStage& stage);

}  // namespace lab::lessons
