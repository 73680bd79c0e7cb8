#include "compute/train/ranks/rank_session.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace lab {
namespace {

class SingleSession final : public RankSession {
 public:
  RankGroup& ranks() override { return single_rank(); }
  const std::vector<int>& host_ranks() const override { return host_ranks_; }
  void lead(std::string_view) override {}
  std::optional<std::string> follow(const RankWait&) override { return {}; }
  void forget_failures() override {}
  std::optional<Error> failure_elsewhere() const override { return {}; }
  std::optional<Error> close(int, const RankWait&) override { return {}; }

 private:
  const std::vector<int> host_ranks_ = {0};
};

}  // namespace

std::unique_ptr<RankSession> single_session() {
  return std::make_unique<SingleSession>();
}

namespace {

// Open MPI, MPICH and Intel MPI, MVAPICH2, srun. SLURM_NTASKS is excluded: it is also set in a
// batch script, before srun starts anything.
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

std::chrono::seconds launcher_grace_period() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  const int seconds = number(std::getenv("OMPI_MCA_odls_base_sigkill_timeout"));
  return std::chrono::seconds(std::max(seconds, 1));
}

}  // namespace lab
