#include "compute/train/ranks/launcher.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace lab {
namespace {

// Open MPI, MPICH and Intel MPI, MVAPICH2, srun. SLURM_NTASKS is not among them: a batch script
// has it too, before srun starts anything.
constexpr const char* kSizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                  "SLURM_STEP_NUM_TASKS"};

int number(const char* text) {
  const std::string_view digits = text ? text : "";
  int value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return fault == std::errc{} && end == digits.data() + digits.size() ? value : 0;
}

}  // namespace

int launched_processes() {
  for (const char* name : kSizes) {
    const int size = number(std::getenv(name));  // NOLINT(concurrency-mt-unsafe)
    if (size > 0) return size;
  }
  return 1;
}

std::chrono::seconds launcher_notice() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  const int seconds = number(std::getenv("OMPI_MCA_odls_base_sigkill_timeout"));
  return std::chrono::seconds(std::max(seconds, 1));
}

}  // namespace lab
