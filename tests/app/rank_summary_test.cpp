#include "app/headless/ranks/rank_summary.h"

#include <gtest/gtest.h>

#include "compute/train/request_json.h"
#include "tests/support/errors.h"

namespace lab::app {
namespace {

const std::vector<std::string> kHosts = {"node1", "node2", "node3"};

RankSummary training_summary(std::int64_t batch) {
  StartTraining request;
  request.batch = batch;
  JobOptions job;
  job.command = request;
  return rank_summary(Invocation(job), {});
}

std::string difference_between(const std::vector<RankSummary>& summaries,
                               Errc code = Errc::InvalidArgument) {
  return test::message_of([&] { require_same_start(summaries, kHosts); }, code);
}

TEST(RankSummary, RoundTripsThroughText) {
  RankSummary summary = training_summary(64);
  summary.problem = "unknown option \"--x\"\xff";
  const RankSummary back = rank_summary_from(to_text(summary));
  EXPECT_EQ(back.version, summary.version);
  EXPECT_EQ(back.program_sha256, summary.program_sha256);
  EXPECT_EQ(back.program_sha256.size(), 64u);
  EXPECT_EQ(back.command, "train");
  EXPECT_EQ(training_from_json(back.training).batch, 64);
  EXPECT_EQ(back.problem.substr(0, 20), summary.problem.substr(0, 20));
  test::message_of([] { rank_summary_from("{}"); }, Errc::Corrupt);
  test::message_of([] { rank_summary_from("{"); }, Errc::Corrupt);
}

TEST(RankSummary, AcceptsEqualRanks) {
  EXPECT_NO_THROW(require_same_start(
      std::vector{training_summary(64), training_summary(64), training_summary(64)}, kHosts));
}

TEST(RankSummary, AllowsDifferentDevicesAndFolders) {
  StartTraining request;
  request.batch = 64;
  request.devices = {cpu(0), cpu(1)};
  request.data_dir = "/scratch/data";
  JobOptions job;
  job.cpu_devices = 2;
  job.command = request;
  EXPECT_NO_THROW(require_same_start(
      std::vector{training_summary(64), rank_summary(Invocation(job), {})}, kHosts));
}

TEST(RankSummary, NamesTheFirstDifferentSetting) {
  EXPECT_EQ(
      difference_between({training_summary(256), training_summary(256), training_summary(128)}),
      "rank 2 (node3) was started with --batch 128, rank 0 (node1) with --batch 256; start "
      "all ranks identically");
}

TEST(RankSummary, NamesADifferentCommand) {
  EXPECT_EQ(
      difference_between({training_summary(256), rank_summary(Invocation(WindowOptions{}), {})}),
      "rank 1 (node2) was started as 'device-lab', rank 0 (node1) as 'device-lab train'; "
      "start all ranks identically");
}

TEST(RankSummary, ReportsADifferentProgramFirst) {
  RankSummary other = training_summary(128);
  other.program_sha256[0] = other.program_sha256[0] == '0' ? '1' : '0';
  const std::string text = difference_between({training_summary(256), other});
  EXPECT_NE(text.find("rank 1 (node2) runs a different program than rank 0 (node1)"),
            std::string::npos)
      << text;
}

TEST(RankSummary, NamesTheRankWithAnInvalidCommandLine) {
  const RankSummary good = training_summary(64);
  const RankSummary wrong = rank_summary({}, Error(Errc::Usage, "unknown option --x"));
  EXPECT_EQ(difference_between({good, wrong}, Errc::Usage),
            "rank 1 (node2): unknown option --x; start all ranks identically");
  EXPECT_EQ(difference_between({wrong, good}, Errc::Usage),
            "rank 0 (node1): unknown option --x; start all ranks identically");
  EXPECT_NO_THROW(require_same_start(std::vector{wrong, wrong}, kHosts));  // rank 0 reports for all
}

}  // namespace
}  // namespace lab::app
