#include "compute/nn/models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compute/core/error.h"
#include "compute/nn/network.h"
#include "compute/nn/state_dict.h"

namespace lab::nn {
namespace {

std::vector<std::string> names_and_shapes(const std::string& model,
                                          std::int64_t width = kResNetWidth) {
  Machine machine;
  Network network(plan_model(model, width), machine.at(cpu()), 1);
  std::vector<std::string> lines;
  for (const StateTensor& t : state_dict(network))
    lines.push_back(t.name + " " + to_string(t.shape));
  return lines;
}

std::int64_t parameters(const std::string& model) {
  Machine machine;
  return Network(plan_model(model), machine.at(cpu()), 1).parameter_count();
}

TEST(Models, MatchTheBooksParameterCounts) {
  EXPECT_EQ(parameters("softmax"), 7850);
  EXPECT_EQ(parameters("mlp"), 203530);
  EXPECT_EQ(parameters("lenet"), 61706);
  EXPECT_EQ(parameters("resnet18"), 11175818);
  EXPECT_EQ(parameters("convnet"), 54890);
}

TEST(Models, OnlyResnetHasAWidth) {
  const std::vector<std::string> narrow = names_and_shapes("resnet18", 5);
  ASSERT_EQ(narrow.size(), names_and_shapes("resnet18").size());
  EXPECT_EQ(narrow.front(), "0.weight [5,1,3,3]");
  EXPECT_EQ(narrow[narrow.size() - 2], "fc.1.weight [10,40]");
  EXPECT_THROW(plan_model("lenet", 5), Error);
}

TEST(Models, LenetUsesPyTorchNames) {
  const std::vector<std::string> want = {
      "net.0.weight [6,1,5,5]", "net.0.bias [6]",   "net.3.weight [16,6,5,5]", "net.3.bias [16]",
      "net.7.weight [120,400]", "net.7.bias [120]", "net.9.weight [84,120]",   "net.9.bias [84]",
      "net.11.weight [10,84]",  "net.11.bias [10]"};
  EXPECT_EQ(names_and_shapes("lenet"), want);
}

TEST(Models, ResnetUsesPyTorchNamesAndOrder) {
  const std::vector<std::string> names = names_and_shapes("resnet18");
  ASSERT_EQ(names.size(), 127U);
  const std::vector<std::string> start = {"0.weight [64,1,3,3]",
                                          "0.bias [64]",
                                          "1.weight [64]",
                                          "1.bias [64]",
                                          "1.running_mean [64]",
                                          "1.running_var [64]",
                                          "1.num_batches_tracked []",
                                          "resnet_block1.0.conv1.weight [64,64,3,3]"};
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.begin() + 8), start);
  const std::vector<std::string> block2(names.begin() + 35, names.begin() + 51);
  const std::vector<std::string> want = {"resnet_block2.0.conv1.weight [128,64,3,3]",
                                         "resnet_block2.0.conv1.bias [128]",
                                         "resnet_block2.0.conv2.weight [128,128,3,3]",
                                         "resnet_block2.0.conv2.bias [128]",
                                         "resnet_block2.0.conv3.weight [128,64,1,1]",
                                         "resnet_block2.0.conv3.bias [128]",
                                         "resnet_block2.0.bn1.weight [128]",
                                         "resnet_block2.0.bn1.bias [128]",
                                         "resnet_block2.0.bn1.running_mean [128]",
                                         "resnet_block2.0.bn1.running_var [128]",
                                         "resnet_block2.0.bn1.num_batches_tracked []",
                                         "resnet_block2.0.bn2.weight [128]",
                                         "resnet_block2.0.bn2.bias [128]",
                                         "resnet_block2.0.bn2.running_mean [128]",
                                         "resnet_block2.0.bn2.running_var [128]",
                                         "resnet_block2.0.bn2.num_batches_tracked []"};
  EXPECT_EQ(block2, want);
  EXPECT_EQ(names[125], "fc.1.weight [10,512]");
}

TEST(Models, ConvnetUsesPyTorchNames) {
  const std::vector<std::string> names = names_and_shapes("convnet");
  ASSERT_EQ(names.size(), 23U);
  EXPECT_EQ(names[0], "net.0.weight [16,1,3,3]");
  EXPECT_EQ(names[4], "net.1.running_mean [16]");
  EXPECT_EQ(names[7], "net.4.weight [32,16,3,3]");
  EXPECT_EQ(names[14], "net.8.weight [64,32,3,3]");
  EXPECT_EQ(names[21], "net.12.weight [10,3136]");
}

TEST(Models, UseTheBooksInitialDistributions) {
  Machine machine;
  Network lenet(plan_model("lenet"), machine.at(cpu()), 1, /*seed=*/3);
  const Parameter& conv = lenet.parameters()[2];  // Xavier: sqrt(6 / (6*25 + 16*25))
  const double bound = std::sqrt(6.0 / 550);
  double largest = 0;
  for (std::int64_t i = 0; i < conv.size; ++i) {
    largest = std::max(largest, std::abs(double{conv.value[i]}));
  }
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.98 * bound);
}

TEST(Models, UnknownNameListsTheChoices) {
  try {
    plan_model("vgg");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::NotFound);
    EXPECT_STREQ(error.what(),
                 "unknown model 'vgg'; choose one of softmax, mlp, lenet, resnet18, "
                 "convnet");
  }
}

}  // namespace
}  // namespace lab::nn
