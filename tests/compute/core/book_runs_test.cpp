// The recorded runs of the book, and the documents that cite them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <span>
#include <sstream>

#include "compute/core/book/book_runs.h"
#include "tests/support/source_dir.h"

namespace lab {
namespace {

TEST(BookRuns, AreCompleteAndInRange) {
  ASSERT_EQ(book_runs().size(), 607U);
  for (const BookRun& run : book_runs()) {
    SCOPED_TRACE(fmt::format("notebook {} {} on {}", run.notebook, run.model, run.gpus));
    EXPECT_TRUE(run.model == "lenet" || run.model == "resnet18");
    EXPECT_GE(run.gpus, 1);
    EXPECT_GT(run.batch, 0);
    EXPECT_GT(run.lr, 0);
    EXPECT_GT(run.s_per_epoch, 0);
    EXPECT_GT(run.test_acc, 0.3);
    EXPECT_LT(run.test_acc, 0.95);
    EXPECT_EQ(run.acc_by_epoch.empty(), run.edition != "1.0");
    if (run.acc_by_epoch.empty()) continue;
    ASSERT_EQ(run.acc_by_epoch.size(), 10U);
    EXPECT_NEAR(run.acc_by_epoch.back(), run.test_acc, 0.0051);
  }
}

TEST(BookRuns, SpreadsAreThoseOfTheChapters) {
  const Spread one = chapter_accuracy("resnet18", 1), two = chapter_accuracy("resnet18", 2);
  EXPECT_EQ(one.n, 103);
  EXPECT_NEAR(one.mean, 0.905, 5e-4);
  EXPECT_NEAR(one.deviation, 0.023, 5e-4);
  EXPECT_EQ(two.n, 104);
  EXPECT_NEAR(two.mean, 0.804, 5e-4);
  EXPECT_NEAR(two.deviation, 0.100, 6e-4);
  const Spread mxnet = chapter_accuracy("resnet18", 2, "mxnet");
  EXPECT_EQ(mxnet.n, 8);
  EXPECT_NEAR(mxnet.mean, 0.924, 5e-4);
  const Spread deep = spread_of(chapter_speedups("resnet18"));
  EXPECT_EQ(deep.n, 103);
  EXPECT_NEAR(deep.mean, 1.547, 5e-4);
  EXPECT_NEAR(deep.deviation, 0.040, 5e-4);
  const Spread lenet = spread_of(chapter_speedups("lenet"));
  EXPECT_EQ(lenet.n, 138);
  EXPECT_NEAR(lenet.mean, 0.964, 5e-4);
  EXPECT_NEAR(lenet.deviation, 0.057, 5e-4);
}

// compute/train/README.md cites the figures; they must follow the CSV.
TEST(BookRuns, TheDocumentCitesThem) {
  std::ifstream file(test::source_dir() / "compute/train/README.md");
  std::ostringstream text;
  text << file.rdbuf();
  const Spread one = chapter_accuracy("resnet18", 1), two = chapter_accuracy("resnet18", 2);
  const Spread mxnet = chapter_accuracy("resnet18", 2, "mxnet");
  for (const std::string& cited :
       {fmt::format("{:.2f} ± {:.2f}", two.mean, two.deviation), fmt::format("(n = {})", two.n),
        fmt::format("{:.3f} ± {:.3f} (n = {})", one.mean, one.deviation, one.n),
        fmt::format("{:.3f} ± {:.3f} (n = {})", mxnet.mean, mxnet.deviation, mxnet.n)}) {
    EXPECT_NE(text.str().find(cited), std::string::npos) << cited;
  }
}

TEST(Spread, KnowsFewAndNoValues) {
  EXPECT_EQ(spread_of(std::span<const double>()).n, 0);
  EXPECT_EQ(spread_of(std::span<const double>()).error(), 0);
  const std::array<double, 1> single = {0.5};
  EXPECT_EQ(spread_of(single).mean, 0.5);
  EXPECT_EQ(spread_of(single).deviation, 0);
  const std::array<double, 4> four = {1, 2, 3, 4};
  const Spread spread = spread_of(four);
  EXPECT_DOUBLE_EQ(spread.mean, 2.5);
  EXPECT_NEAR(spread.deviation, 1.2909944, 1e-6);
  EXPECT_NEAR(spread.error(), 0.6454972, 1e-6);
  EXPECT_EQ(spread.least, 1);
  EXPECT_EQ(spread.most, 4);
  EXPECT_EQ(mean_text(spread, "x"), "2.50x ± 1.29");
  EXPECT_EQ(mean_text({.n = 104, .mean = 0.804, .deviation = 0.1}), "0.804 ± 0.100");
}

}  // namespace
}  // namespace lab
