#include "ui/model/training_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/ui/events.h"
#include "ui/model/forms/forms.h"

namespace lab::ui {
namespace {

using namespace lab::test;

std::vector<std::string> names(const std::vector<ProfileLayer>& layers) {
  std::vector<std::string> all;
  all.reserve(layers.size());
  for (const ProfileLayer& layer : layers) all.push_back(layer.name->layer);
  return all;
}

TEST(ProfileLayers, AreSortedByNetworkOrTime) {
  const TrainingProfile p = training_profile(false, 2);
  EXPECT_EQ(names(layers_of(p, LayerOrder::Network)),
            (std::vector<std::string>{"batch", "resnet_block1.0.conv1",
                                      "relu after resnet_block1.0.conv1", "resnet_block2.0.conv1",
                                      "relu after resnet_block2.0.conv1", "loss", "update"}));
  EXPECT_EQ(names(layers_of(p, LayerOrder::Longest)).at(0), "resnet_block1.0.conv1");
  EXPECT_EQ(names(layers_of(p, LayerOrder::Longest)).back(), "loss");
}

TEST(ProfileLayers, HoldBothPassesPerKernels) {
  const TrainingProfile p = training_profile(true);
  const std::vector<ProfileLayer> layers = layers_of(p, LayerOrder::Network);
  const ProfileLayer& conv = layers.at(1);
  ASSERT_EQ(conv.sides.size(), 2U);
  for (const LayerSide& side : conv.sides) {
    ASSERT_NE(side.forward, nullptr);
    ASSERT_NE(side.backward, nullptr);
    EXPECT_EQ(side.once, nullptr);
    EXPECT_EQ(side.backward->phase, StepPhase::Backward);
  }
  EXPECT_EQ(conv.sides[1].forward->kernels, Kernels::Library);
  EXPECT_DOUBLE_EQ(conv.seconds(), 0.03);
  EXPECT_DOUBLE_EQ(conv.sides[1].seconds(), 0.03 * 1.25);
  EXPECT_NE(layers.front().sides[0].once, nullptr) << "the batch is loaded once per step";
}

// Layers without timings count as 0 s.
TEST(ProfileLayers, AcceptLayersWithoutTimes) {
  TrainingProfile p = training_profile(true);
  for (ProfileRow& row : p.rows) row.time = {};
  for (const ProfileLayer& layer : layers_of(p, LayerOrder::Longest)) {
    EXPECT_EQ(layer.seconds(), 0);
  }
  EXPECT_TRUE(layers_of(TrainingProfile{}, LayerOrder::Longest).empty());
}

TEST(ProfileLines, SortByAnyColumnWithEmptyCellsLast) {
  const TrainingProfile p = training_profile(true);
  for (const ProfileKey key :
       {ProfileKey::Time, ProfileKey::P10, ProfileKey::P90, ProfileKey::Ratio, ProfileKey::Gflops,
        ProfileKey::Share, ProfileKey::Bytes, ProfileKey::Intensity, ProfileKey::Pass}) {
    for (const bool down : {false, true}) {
      double before = down ? INFINITY : -INFINITY;
      bool ended = false;
      for (const ProfileLine& line : lines_of(p, key, 1, down)) {
        const double value = value_of(p, line, key, 1);
        if (std::isnan(value)) {
          ended = true;
          continue;
        }
        EXPECT_FALSE(ended) << "a value below the empty cells";
        EXPECT_TRUE(down ? value <= before : value >= before);
        before = value;
      }
    }
  }
  EXPECT_FALSE(lines_of(p, ProfileKey::Method, 0, false).front()[0]->method.empty());
  EXPECT_EQ(lines_of(p, ProfileKey::Layer, 0, false).front()[0]->layer, "batch");
  EXPECT_EQ(lines_of(p, ProfileKey::Layer, 0, true).front()[0]->layer, "update");
}

TEST(ProfileLines, CompareKernels) {
  const TrainingProfile p = training_profile(true);
  const ProfileLine line = lines_of(p, ProfileKey::Time, 0, true).front();
  EXPECT_EQ(line[0]->layer, "resnet_block1.0.conv1");
  EXPECT_DOUBLE_EQ(value_of(p, line, ProfileKey::Ratio), 1.25);
  EXPECT_DOUBLE_EQ(value_of(p, line, ProfileKey::Share), 100.0 / 500);
}

TEST(ProfileTitles, NumberedLayersShowTheirKind) {
  ProfileRow row{.layer = "net.11", .kind = "linear"};
  EXPECT_EQ(row.title(), "net.11 linear");
  row.layer = "0";
  EXPECT_EQ(row.title(), "0 linear");
  row.layer = "resnet_block1.0.conv1";
  EXPECT_EQ(row.title(), "resnet_block1.0.conv1");
  row.layer = "relu after net.1";
  EXPECT_EQ(row.title(), "relu after net.1");
}

TEST(ProfileForm, BothKernelsImplyAProfile) {
  TrainingForm form;
  const MachineInfo machine = machine_of(1);
  EXPECT_FALSE(to_command(form, machine).profile);
  form.request.profile = true;
  EXPECT_TRUE(to_command(form, machine).profile);
  form.request.profile = false;
  set_kernel_choice(form.request, kBothKernels);
  const StartTraining both = to_command(form, machine);
  EXPECT_TRUE(both.profile);
  EXPECT_TRUE(both.compare_kernels);
  EXPECT_EQ(both.kernels, Kernels::Lab);
  set_kernel_choice(form.request, static_cast<int>(Kernels::Library));
  EXPECT_EQ(to_command(form, machine).kernels, Kernels::Library);
  EXPECT_FALSE(to_command(form, machine).compare_kernels);
}

}  // namespace
}  // namespace lab::ui
