#include "app/headless/ranks/rank_card.h"

#include <gtest/gtest.h>

#include "compute/train/request_json.h"
#include "tests/support/errors.h"

namespace lab::app {
namespace {

const std::vector<std::string> kHosts = {"node1", "node2", "node3"};

RankCard training_card(std::int64_t batch) {
  StartTraining request;
  request.batch = batch;
  JobOptions job;
  job.command = request;
  return rank_card(Invocation(job), {});
}

std::string complaint(const std::vector<RankCard>& cards, Errc code = Errc::InvalidArgument) {
  return test::message_of([&] { require_alike(cards, kHosts); }, code);
}

TEST(RankCard, ReadsBackWhatItSays) {
  RankCard card = training_card(64);
  card.problem = "unknown option \"--x\"\xff";
  const RankCard back = rank_card_from(to_text(card));
  EXPECT_EQ(back.version, card.version);
  EXPECT_EQ(back.program_sha256, card.program_sha256);
  EXPECT_EQ(back.program_sha256.size(), 64u);
  EXPECT_EQ(back.command, "train");
  EXPECT_EQ(training_from_json(back.training).batch, 64);
  EXPECT_EQ(back.problem.substr(0, 20), card.problem.substr(0, 20));
  test::message_of([] { rank_card_from("{}"); }, Errc::Corrupt);
  test::message_of([] { rank_card_from("{"); }, Errc::Corrupt);
}

TEST(RankCard, AlikeRanksPass) {
  EXPECT_NO_THROW(
      require_alike(std::vector{training_card(64), training_card(64), training_card(64)}, kHosts));
}

TEST(RankCard, WhatDecidesWhereMayDiffer) {
  StartTraining request;
  request.batch = 64;
  request.devices = {cpu(0), cpu(1)};
  request.data_dir = "/scratch/data";
  JobOptions job;
  job.cpu_devices = 2;
  job.command = request;
  EXPECT_NO_THROW(
      require_alike(std::vector{training_card(64), rank_card(Invocation(job), {})}, kHosts));
}

TEST(RankCard, TheFirstDifferentSettingIsNamed) {
  EXPECT_EQ(complaint({training_card(256), training_card(256), training_card(128)}),
            "rank 2 (node3) was started with --batch 128, rank 0 (node1) with --batch 256; start "
            "all ranks alike");
}

TEST(RankCard, ADifferentCommandIsNamed) {
  EXPECT_EQ(complaint({training_card(256), rank_card(Invocation(WindowOptions{}), {})}),
            "rank 1 (node2) was started as 'device-lab', rank 0 (node1) as 'device-lab train'; "
            "start all ranks alike");
}

TEST(RankCard, ADifferentProgramComesFirst) {
  RankCard other = training_card(128);
  other.program_sha256[0] = other.program_sha256[0] == '0' ? '1' : '0';
  const std::string text = complaint({training_card(256), other});
  EXPECT_NE(text.find("rank 1 (node2) runs another program than rank 0 (node1)"), std::string::npos)
      << text;
}

TEST(RankCard, AWrongCommandLineOfOneRankIsToldForIt) {
  const RankCard good = training_card(64);
  const RankCard wrong = rank_card({}, Error(Errc::Usage, "unknown option --x"));
  EXPECT_EQ(complaint({good, wrong}, Errc::Usage),
            "rank 1 (node2): unknown option --x; start all ranks alike");
  EXPECT_EQ(complaint({wrong, good}, Errc::Usage),
            "rank 0 (node1): unknown option --x; start all ranks alike");
  EXPECT_NO_THROW(require_alike(std::vector{wrong, wrong}, kHosts));  // told by rank 0 for all
}

}  // namespace
}  // namespace lab::app
