#include "app/headless/console.h"

#include <gtest/gtest.h>

namespace lab::app {
namespace {

TEST(ProgressText, ShowsShareTextAndTimeLeft) {
  const std::string text = progress_text(0.5, "packed at 1024", 12.0, 100);
  EXPECT_NE(text.find("[############............]"), std::string::npos) << text;
  EXPECT_NE(text.find("50 %"), std::string::npos);
  EXPECT_NE(text.find("packed at 1024"), std::string::npos);
  EXPECT_NE(text.find("left"), std::string::npos);
}

TEST(ProgressText, FitsTheTerminalWidth) {
  EXPECT_EQ(progress_text(0.5, "a very long description", 12.0, 30).size(), 30U);
  EXPECT_EQ(progress_text(0.5, "a very long description", 12.0, -1).size(), 0U);
}

TEST(ProgressText, CountsColumnsAndCutsWholeCharacters) {
  const std::string what = "\u30c6\u30b9\u30c8";  // six columns in nine bytes
  const std::string whole = progress_text(0.5, what, {}, 100);
  EXPECT_EQ(progress_text(0.5, what, {}, 34 + 6), whole);
  const std::string cut = progress_text(0.5, what, {}, 34 + 5);
  EXPECT_EQ(cut, whole.substr(0, whole.size() - 3)) << "the last character takes two columns";
}

TEST(ProgressText, ClampsTheShare) {
  EXPECT_NE(progress_text(-1, "", {}, 100).find("[........................]   0 %"),
            std::string::npos);
  EXPECT_NE(progress_text(2, "", {}, 100).find("[########################] 100 %"),
            std::string::npos);
}

}  // namespace
}  // namespace lab::app
