// The layers card on the Training page.
#include <gtest/gtest.h>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;
using ui::WidgetRect;

class TrainingLayers : public ::testing::Test {
 protected:
  // The window is tall enough to show the whole page.
  void open(const Layers& what, Scene scene = Scene::Done) {
    lab.open(Page::Training);
    lab.show(make_layers(what, scene));
  }
  std::string text_of(const char* path) {
    const WidgetRect* w = lab.backend.find(path);
    return w == nullptr ? "" : w->label + w->value;
  }

  Lab lab{make_scene(Page::Training, Scene::Empty), 1, {1280, 3600}};
};

TEST_F(TrainingLayers, SummariseTheStep) {
  open({});
  EXPECT_EQ(
      text_of("training/layers_sentence"),
      "The median step takes 63.8 ms: 32 % forward, 63 % backward, 4.7 % update, 0.5 % the rest.");
  EXPECT_EQ(lab.backend.find("training/layers/resnet_block1.0.conv1")->value, "30.0 ms");
  EXPECT_TRUE(lab.visible("training/layers/batch"));
  EXPECT_LT(lab.backend.find("training/layers/resnet_block1.0.conv1")->max.y,
            lab.backend.find("training/layers/resnet_block2.0.conv1")->max.y);
}

TEST_F(TrainingLayers, CanFollowTheNetworkOrder) {
  open({});
  lab.click("training/layer_order/As in the network");
  EXPECT_LT(lab.backend.find("training/layers/batch")->min.y,
            lab.backend.find("training/layers/resnet_block1.0.conv1")->min.y);
}

TEST_F(TrainingLayers, CompareKernels) {
  open({.both = true});
  EXPECT_EQ(text_of("training/layers_sentence").substr(0, 40),
            "A step takes 63.8 ms with the lab's kern");
  EXPECT_NE(text_of("training/layers_sentence").find("the lab is 1.22 times as fast."),
            std::string::npos)
      << text_of("training/layers_sentence");
  lab.click("training/layer_numbers");
  EXPECT_EQ(lab.backend.find("training/layer_table/0")->value.substr(0, 46),
            "resnet_block1.0.conv1\tbackward\t20.0 ms\t25.0 ms");
}

TEST_F(TrainingLayers, BarTooltipHasAllFields) {
  open({.both = true});
  lab.backend.move_to(
      NullBackend::centre(*lab.backend.find("training/layers/resnet_block1.0.conv1")));
  lab.frames(60);
  const WidgetRect* tip = lab.backend.find("tooltip");
  ASSERT_NE(tip, nullptr);
  for (const char* part : {"lab forward, winograd4", "library backward, onednn", "p10", "steps\t31",
                           "speed\t100 GFLOP/s", "share of peak\t20 %", "20.0 MB", "FLOP/byte"}) {
    EXPECT_NE(tip->value.find(part), std::string::npos) << part << " in\n" << tip->value;
  }
}

TEST_F(TrainingLayers, ManyLayersUnfold) {
  open({.both = false, .layers = 20});
  EXPECT_FALSE(lab.visible("training/layers/loss"));
  EXPECT_EQ(lab.backend.find("training/layers_all")->label, "All 43 parts");
  lab.click("training/layers_all");
  EXPECT_TRUE(lab.visible("training/layers/loss"));
}

TEST_F(TrainingLayers, TableIsSortableAndAddsUp) {
  open({});
  lab.click("training/layer_numbers");
  EXPECT_EQ(lab.backend.find("training/layer_table")->value, "18 rows");
  EXPECT_EQ(lab.backend.find("training/layer_table/0")->value.substr(0, 38),
            "resnet_block1.0.conv1\tbackward\t20.0 ms");
  EXPECT_EQ(lab.backend.find("training/layer_table/15")->value.substr(0, 9), "All parts");
  EXPECT_EQ(lab.backend.find("training/layer_table/17")->value.substr(0, 4), "Step");
  lab.click("training/layer_table/sort/Layer");
  EXPECT_EQ(lab.backend.find("training/layer_table/0")->value.substr(0, 5), "batch");
  lab.click("training/layer_table/sort/Time");
  lab.click("training/layer_table/sort/Time");
  EXPECT_EQ(lab.backend.find("training/layer_table/0")->value.substr(0, 4), "loss");
}

TEST_F(TrainingLayers, MarkTheFirstStepsAsWarmUp) {
  open({.both = false, .layers = 3, .profile = false}, Scene::Running);
  ASSERT_TRUE(lab.visible("training/layers"));
  EXPECT_FALSE(lab.visible("training/layers_sentence"));
  EXPECT_FALSE(lab.visible("training/layers_on"));
}

TEST_F(TrainingLayers, RunWithoutAProfileOffersOne) {
  lab.open(Page::Training);
  lab.show(make_scene(Page::Training, Scene::Done));
  lab.click("training/layers_on");
  EXPECT_TRUE(lab.view.forms.training.request.profile);
  EXPECT_FALSE(lab.visible("training/layers_on"));
}

TEST_F(TrainingLayers, AreEnabledUnderMoreSettings) {
  lab.open(Page::Training);
  lab.click("training/more");
  lab.click("training/profile");
  lab.click("training/start");
  ASSERT_EQ(lab.sent<StartTraining>().size(), 1U);
  EXPECT_TRUE(lab.sent<StartTraining>()[0].profile);
  lab.view.sent_after = -1;
  lab.click("training/kernels/Both");
  EXPECT_FALSE(lab.backend.find("training/profile")->enabled) << "comparing implies a profile";
  lab.click("training/start");
  ASSERT_EQ(lab.sent<StartTraining>().size(), 2U);
  EXPECT_TRUE(lab.sent<StartTraining>()[1].compare_kernels);
}

}  // namespace
}  // namespace lab::test
