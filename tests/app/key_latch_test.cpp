#include "app/window/key_latch.h"

#include <gtest/gtest.h>

namespace lab::app {
namespace {

constexpr int kControl = 341, kTwo = 50;

TEST(KeyLatch, ShowsATapWithinOneFrameAsPressedThenReleased) {
  KeyLatch latch;
  latch.key(kTwo, true);
  latch.key(kTwo, false);
  latch.next_frame();
  EXPECT_TRUE(latch.key_down(kTwo));
  EXPECT_TRUE(latch.pending());
  latch.next_frame();
  EXPECT_FALSE(latch.key_down(kTwo));
  EXPECT_FALSE(latch.pending());
}

TEST(KeyLatch, KeepsAChordTogether) {
  KeyLatch latch;
  latch.key(kControl, true);
  latch.key(kTwo, true);
  latch.key(kTwo, false);
  latch.key(kControl, false);
  latch.next_frame();
  EXPECT_TRUE(latch.key_down(kControl) && latch.key_down(kTwo));
  latch.next_frame();
  EXPECT_FALSE(latch.key_down(kControl) || latch.key_down(kTwo));
}

TEST(KeyLatch, KeepsAChordWhoseModifierIsReleasedFirst) {
  KeyLatch latch;
  latch.key(kControl, true);
  latch.next_frame();
  latch.key(kTwo, true);
  latch.key(kControl, false);
  latch.key(kTwo, false);
  latch.next_frame();
  EXPECT_TRUE(latch.key_down(kControl) && latch.key_down(kTwo));
  latch.next_frame();
  EXPECT_FALSE(latch.key_down(kControl) || latch.key_down(kTwo));
}

TEST(KeyLatch, MakesNoChordOfAKeyBeforeTheModifier) {
  KeyLatch latch;
  latch.key(kTwo, true);
  latch.key(kControl, true);
  latch.next_frame();
  EXPECT_TRUE(latch.key_down(kTwo));
  EXPECT_FALSE(latch.key_down(kControl));
  latch.next_frame();
  EXPECT_TRUE(latch.key_down(kControl));
}

TEST(KeyLatch, ShowsEveryTapOfADoubleClick) {
  KeyLatch latch;
  for (const bool down : {true, false, true, false}) latch.button(0, down, {10, 20});
  for (const bool down : {true, false, true, false}) {
    latch.next_frame();
    EXPECT_EQ(latch.button_down(0), down);
    ASSERT_TRUE(latch.clicked_at());
    EXPECT_EQ(latch.clicked_at()->x, 10);
  }
  latch.next_frame();
  EXPECT_FALSE(latch.clicked_at());
}

TEST(KeyLatch, ClicksWhereTheButtonWasPressed) {
  KeyLatch latch;
  latch.button(0, true, {10, 20});
  latch.button(1, true, {90, 20});
  latch.next_frame();
  EXPECT_EQ(latch.clicked_at()->x, 10);
  EXPECT_FALSE(latch.button_down(1));
  latch.next_frame();
  EXPECT_EQ(latch.clicked_at()->x, 90);
  EXPECT_TRUE(latch.button_down(0) && latch.button_down(1));
}

TEST(KeyLatch, IgnoresUnknownKeysAndButtons) {
  KeyLatch latch;
  latch.key(-1, true);  // GLFW_KEY_UNKNOWN
  latch.key(600, true);
  latch.button(7, true, {});
  latch.next_frame();
  EXPECT_FALSE(latch.pending());
}

}  // namespace
}  // namespace lab::app
