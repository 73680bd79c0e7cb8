#include "app/window/key_latch.h"

namespace lab::app {

namespace {

// GLFW_KEY_LEFT_SHIFT to GLFW_KEY_RIGHT_SUPER
constexpr std::size_t kFirstModifier = 340, kLastModifier = 347;

}  // namespace

void KeyLatch::key(int key, bool down) {
  if (key < 0 || static_cast<std::size_t>(key) >= kKeys) return;
  events_.push_back({static_cast<std::size_t>(key), down});
}

void KeyLatch::button(int button, bool down, PointerPlace at) {
  if (button < 0 || static_cast<std::size_t>(button) >= kButtons) return;
  events_.push_back({kKeys + static_cast<std::size_t>(button), down, at});
}

// A frame has one pointer position, so a button at a second place waits as well. It also has one
// state of the modifiers, which a key that went down needs as they were: Ctrl released before the
// key of a chord waits.
void KeyLatch::next_frame() {
  std::bitset<kKeys + kButtons> changed;
  bool pressed = false;  // another key than a modifier, or a button
  clicked_at_.reset();
  while (!events_.empty()) {
    const Event& next = events_.front();
    const bool modifier = next.what >= kFirstModifier && next.what <= kLastModifier;
    if (changed[next.what] || (modifier && pressed)) return;
    pressed = pressed || (!modifier && next.down);
    if (next.what >= kKeys) {
      const bool elsewhere =
          clicked_at_ && (clicked_at_->x != next.at.x || clicked_at_->y != next.at.y);
      if (elsewhere) return;
      clicked_at_ = next.at;
      buttons_[next.what - kKeys] = next.down;
    } else {
      keys_[next.what] = next.down;
    }
    changed[next.what] = true;
    events_.pop_front();
  }
}

}  // namespace lab::app
