#include "app/cli/suggest.h"

#include <gtest/gtest.h>

namespace lab::app {
namespace {

const std::vector<std::string> kModels = {"softmax", "mlp", "lenet", "resnet18"};

TEST(EditDistance, CountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("lenet", "lenet"), 0);
  EXPECT_EQ(edit_distance("lennet", "lenet"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3);
}

TEST(Nearest, FindsTheNearestOrNothing) {
  EXPECT_EQ(nearest("lennet", kModels), "lenet");
  EXPECT_EQ(nearest("resnet", kModels), "resnet18");
  EXPECT_EQ(nearest("transformer", kModels), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
}

TEST(WayOut, SuggestsTheNearestOrListsAll) {
  EXPECT_EQ(way_out("lenet5", kModels), "; did you mean 'lenet'?");
  EXPECT_EQ(way_out("transformer", kModels), "; choose from softmax, mlp, lenet, resnet18");
}

}  // namespace
}  // namespace lab::app
