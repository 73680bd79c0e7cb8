#include "tests/compute/train/ranks/ranks_main.h"

#include <gtest/gtest.h>

namespace lab::test {
namespace {

// Joined before the first case and left after the last, because MPI can be initialised only once.
class World final : public testing::Environment {
 public:
  void SetUp() override { session_ = open_rank_session(); }
  void TearDown() override {
    const int status = testing::UnitTest::GetInstance()->Failed() ? 1 : 0;
    EXPECT_FALSE(session_->close(status, {}));
  }
  RankSession& session() { return *session_; }

 private:
  std::unique_ptr<RankSession> session_;
};

World& world() {
  static World* const instance =
      static_cast<World*>(testing::AddGlobalTestEnvironment(std::make_unique<World>().release()));
  return *instance;
}

}  // namespace

RankSession& session() {
  return world().session();
}

}  // namespace lab::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  lab::test::world();
  return RUN_ALL_TESTS();
}
