#include <gtest/gtest.h>

#include <vector>

#include "compute/train/ranks/rank_session.h"
#include "tests/support/variable.h"

namespace lab {
namespace {

using test::Variable;

TEST(SingleRank, EveryCallIsTrivial) {
  RankGroup& ranks = single_rank();
  EXPECT_TRUE(ranks.single());
  EXPECT_EQ(ranks.rank(), 0);
  EXPECT_EQ(ranks.hosts().size(), 1u);
  std::vector<float> values = {1, 2, 3};
  ranks.broadcast(std::as_writable_bytes(std::span(values)), 0, {});
  EXPECT_TRUE(ranks.start_sum(values)->test());
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3}));
  const auto all = ranks.all_gather(std::as_bytes(std::span(values)), {});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].size(), sizeof(float) * 3);
  ranks.fail(Errc::Io, "ignored");
  EXPECT_NO_THROW(ranks.check());
}

TEST(SingleRank, SessionHasNoLeaderToFollow) {
  const auto session = single_session();
  EXPECT_EQ(&session->ranks(), &single_rank());
  EXPECT_EQ(session->host_ranks(), std::vector<int>{0});
  session->lead("a job");
  EXPECT_FALSE(session->follow({}));
  EXPECT_FALSE(session->close(0, {}));
}

TEST(Launcher, ReportsTheProcessCount) {
  EXPECT_EQ(launched_processes(), 1);
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const Variable size(name, "3");
    EXPECT_EQ(launched_processes(), 3) << name;
  }
  for (const char* odd : {"", "-4", "0", "many", "4x", "99999999999"}) {
    const Variable size("PMI_SIZE", odd);
    EXPECT_EQ(launched_processes(), 1) << odd;
  }
  const Variable tasks("SLURM_NTASKS", "8");  // as in a batch script before srun
  EXPECT_EQ(launched_processes(), 1);
}

}  // namespace
}  // namespace lab
