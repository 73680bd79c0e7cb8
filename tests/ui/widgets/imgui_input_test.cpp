#include "ui/widgets/imgui_input.h"

#include <gtest/gtest.h>

#include "tests/ui/null_backend.h"

namespace lab::ui {
namespace {

// Before release 1.87, KeyLatch does this.
TEST(ImguiInput, AModifierOutlastsWhatFollowsItInTheSameFrame) {
  if (IMGUI_VERSION_NUM < 18700) GTEST_SKIP() << "this ImGui has no queue of events";
  test::NullBackend backend;
  ImGuiIO& io = ImGui::GetIO();
  send_modifiers(io, {.ctrl = true}, true);
  backend.frame([] {});
  send_key(io, GLFW_KEY_2, true);
  send_modifiers(io, {.ctrl = true}, false);
  send_key(io, GLFW_KEY_2, false);
  send_modifiers(io, {.ctrl = true}, true);
  send_wheel(io, 1);
  send_modifiers(io, {.ctrl = true}, false);
  int presses = 0, notches = 0;
  backend.frames(6, [&] {
    if (key_pressed(GLFW_KEY_2)) {
      ++presses;
      EXPECT_TRUE(io.KeyCtrl);
    }
    if (io.MouseWheel != 0) {
      ++notches;
      EXPECT_TRUE(io.KeyCtrl);
    }
  });
  EXPECT_EQ(presses, 1);
  EXPECT_EQ(notches, 1);
  EXPECT_FALSE(io.KeyCtrl);
  EXPECT_FALSE(input_queued());
}

}  // namespace
}  // namespace lab::ui
