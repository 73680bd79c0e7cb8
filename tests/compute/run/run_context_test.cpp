#include "compute/run/run_context.h"

#include <gtest/gtest.h>

#include "tests/support/probe.h"

namespace lab {
namespace {

// Reports "half" at a progress of one half, at any nesting level. Each runs in a separate job
// because progress events in quick succession are dropped.
class Nested final : public Experiment {
 public:
  explicit Nested(int depth) : depth_(depth) {}
  void run(RunContext& ctx) override { report(ctx, depth_); }

 private:
  static void report(RunContext& ctx, int depth) {
    if (depth == 0) {
      ctx.progress(0.5, "half");
      return;
    }
    const RunContext::Part part(ctx, 0.5, 1, depth == 2 ? "" : "part " + std::to_string(depth));
    report(ctx, depth - 1);
  }
  const int depth_;
};

Progress progress_at(int depth) {
  test::Probe probe;
  Nested experiment(depth);
  probe.run(experiment);
  return probe.all<Progress>().at(0);
}

TEST(RunContext, PartsMapProgressToTheirRange) {
  EXPECT_DOUBLE_EQ(progress_at(0).done, 0.5);
  EXPECT_DOUBLE_EQ(progress_at(1).done, 0.75);
  EXPECT_DOUBLE_EQ(progress_at(2).done, 0.875);
  EXPECT_DOUBLE_EQ(progress_at(3).done, 0.9375);
}

TEST(RunContext, PartsReportTheirTitle) {
  EXPECT_EQ(progress_at(0).what, "half");
  EXPECT_EQ(progress_at(1).what, "part 1, half");
  EXPECT_EQ(progress_at(2).what, "part 1, half") << "a part may have no name";
  EXPECT_EQ(progress_at(3).what, "part 3, part 1, half");
}

TEST(RunContext, PartsOfAJobOfKnownLengthFollowTheTime) {
  class Expected final : public Experiment {
    void run(RunContext& ctx) override {
      ctx.expect(1000);
      const RunContext::Part part(ctx, 0, 1, "");
      ctx.progress(1, "the end of a part is not that of the job");
      ctx.progress(0.9, "late");
    }
  } experiment;
  test::Probe probe;
  probe.run(experiment);
  ASSERT_EQ(probe.all<Progress>().size(), 1U);
  EXPECT_EQ(probe.all<Progress>()[0].what, "late");
  EXPECT_LT(probe.all<Progress>()[0].done, 0.5);
}

TEST(RunContext, TheTimeLeftTurnsFromTheExpectedToTheMeasuredOne) {
  class Expected final : public Experiment {
   public:
    explicit Expected(double done) : done_(done) {}
    void run(RunContext& ctx) override {
      ctx.expect(1000);
      {
        const RunContext::Part part(ctx, 0, 1, "");
        ctx.expect(1);  // a part does not know how long the others last
      }
      ctx.progress(done_, "some");
    }
    const double done_;
  };
  const auto left_s = [](double done) {
    test::Probe probe;
    Expected experiment(done);
    probe.run(experiment);
    return probe.all<Progress>().at(0).left_s.value_or(-1);
  };
  EXPECT_NEAR(left_s(0), 1000, 1);
  EXPECT_NEAR(left_s(0.5), 250, 1) << "half of it took no time";
  EXPECT_EQ(left_s(1), 0);
}

TEST(RunContext, PartsEndWithTheirScope) {
  class Leaves final : public Experiment {
    void run(RunContext& ctx) override {
      { const RunContext::Part part(ctx, 0.9, 1, "gone"); }
      ctx.progress(0.5, "half");
    }
  } experiment;
  test::Probe probe;
  probe.run(experiment);
  EXPECT_EQ(probe.all<Progress>().at(0).what, "half");
  EXPECT_DOUBLE_EQ(probe.all<Progress>().at(0).done, 0.5);
}

}  // namespace
}  // namespace lab
