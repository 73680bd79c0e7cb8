// The frame around the pages: device chips, hints of the rail, and dialogs.
#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <set>
#include <string>
#include <vector>

#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Page;

TEST(Frame, AChipKeepsItsWidthThroughReadings) {
  Lab lab(make_scene(Page::Matmul, Scene::Running));
  const auto width = [&](double busy, std::int64_t used) {
    const double now_s = lab.model.now_s() + 1;
    Telemetry all = telemetry({cpu()}, now_s, busy);
    all.devices[0].utilisation = busy;
    all.devices[0].lab_used_bytes = used;
    lab.model.apply(event(0, now_s, all));
    lab.frames(3);
    const ui::WidgetRect* chip = lab.backend.find("title/cpu:0");
    return chip->max.x - chip->min.x;
  };
  const float wide = width(1, 1000 * kMiB);
  EXPECT_EQ(width(0.001, 0), wide);
  EXPECT_EQ(lab.backend.find("title/cpu:0")->value, "0 %");
  EXPECT_EQ(width(0.214, 3 * kMiB), wide);
  EXPECT_EQ(lab.backend.find("title/cpu:0")->value, "21 %");
  EXPECT_NE(lab.tooltip_of("title/cpu:0").find("the lab's tensors\t3.00 MiB"), std::string::npos);
  lab.show(make_scene(Page::Matmul, Scene::Empty));
  EXPECT_EQ(width(0.5, 0), wide) << "with a job and without";
}

TEST(Frame, AChipOpensItsDevice) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty));
  lab.open(Page::Matmul);
  lab.click("title/cpu:1");
  EXPECT_EQ(lab.view.page, Page::Devices);
  lab.frames(3);
  EXPECT_EQ(lab.backend.find("devices/list/cpu:1")->value, "selected");
}

TEST(Frame, TheListOfKeysScrollsAboveItsButton) {
  for (const float scale : {1.0F, 1.5F, 2.0F}) {
    SCOPED_TRACE(scale);
    Lab lab(make_scene(Page::Matmul, Scene::Empty), scale, {1280, 720});
    lab.frames(3);
    lab.view.help_open = true;
    lab.frames(6);
    const ui::WidgetRect* close = lab.backend.find("help/close");
    ASSERT_NE(close, nullptr);
    EXPECT_FLOAT_EQ(close->max.y - close->min.y, 32 * scale) << "as a whole";
    EXPECT_LT(close->max.y, 720 - 16);
    EXPECT_GT(close->min.y, lab.backend.find("help/keys")->max.y);
  }
}

TEST(Frame, ADialogExplainsNoButtonBeforeTheKeyboardMoves) {
  Lab lab(make_scene(Page::Matmul, Scene::Running));
  lab.frames(3);
  lab.press(GLFW_KEY_TAB);
  lab.press(GLFW_KEY_ESCAPE);
  lab.frames(60);
  ASSERT_TRUE(lab.visible("confirm/keep"));
  EXPECT_FALSE(lab.visible("tooltip"));
}

TEST(Frame, ADialogOpenedByMouseHasTheKeyboard) {
  Lab lab(ui::Model(machine_of(1)), 1, {1280, 2400});
  lab.open(Page::Matmul);
  lab.click("matmul/split");
  ASSERT_TRUE(lab.visible("restart/no"));
  lab.frames(60);
  EXPECT_FALSE(lab.visible("tooltip"));
  lab.press(GLFW_KEY_ENTER);
  lab.frames(3);
  EXPECT_FALSE(lab.visible("restart/no")) << "the safe button has the focus";
  EXPECT_TRUE(lab.sent<RestartLab>().empty());
  lab.click("matmul/split");
  lab.press(GLFW_KEY_TAB);
  lab.frames(2);
  lab.press(GLFW_KEY_SPACE);
  EXPECT_EQ(lab.sent<RestartLab>().size(), 1U) << "Tab went on to the other one";
}

TEST(Frame, TabVisitsTheFieldAndTheButtonsOfADialog) {
  Lab lab(make_scene(Page::Matmul, Scene::Done));
  lab.frames(3);
  SaveText text;
  text.file = "/tmp/none.csv";
  lab.view.save = ui::SaveRequest{.command = text, .looked_up = {}};
  lab.frames(4);
  std::vector<ImGuiID> visited;
  for (int i = 0; i < 4; ++i) {
    visited.push_back(GImGui->NavId);
    EXPECT_FALSE(GImGui->NavDisableHighlight);
    lab.press(GLFW_KEY_TAB);
    lab.frames(2);
  }
  EXPECT_EQ(visited.front(), visited.back()) << "of three";
  EXPECT_EQ((std::set<ImGuiID>(visited.begin(), visited.end()).size()), 3U);
}

TEST(Frame, HintsOfTheRailsFootLeaveTheStatusBarInSight) {
  Lab lab(make_scene(Page::Matmul, Scene::Empty));
  lab.frames(3);
  for (const char* path : {"rail/theme", "rail/language", "rail/help"}) {
    EXPECT_NE(lab.tooltip_of(path), "");
    EXPECT_LT(lab.backend.find("tooltip")->max.y, lab.backend.find(path)->min.y) << path;
  }
}

}  // namespace
}  // namespace lab::test
