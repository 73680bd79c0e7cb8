#include "ui/widgets/imgui_input.h"

#include <gtest/gtest.h>

#include "tests/ui/null_backend.h"

namespace lab::ui {
namespace {

// Before release 1.87, KeyLatch does this.
TEST(ImguiInput, AChordThatEndsWithinAFrameIsSeenWithItsModifier) {
  if (IMGUI_VERSION_NUM < 18700) GTEST_SKIP() << "this ImGui has no queue of events";
  test::NullBackend backend;
  ImGuiIO& io = ImGui::GetIO();
  backend.frame([] {});
  for (const bool down : {true, false}) {
    send_modifiers(io, {.ctrl = true}, down);
    send_key(io, GLFW_KEY_2, down);
  }
  int presses = 0;
  backend.frames(4, [&] {
    if (!key_pressed(GLFW_KEY_2)) return;
    ++presses;
    EXPECT_TRUE(io.KeyCtrl);
  });
  EXPECT_EQ(presses, 1);
  EXPECT_FALSE(io.KeyCtrl);
  EXPECT_FALSE(input_queued());
}

}  // namespace
}  // namespace lab::ui
