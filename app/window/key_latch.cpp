#include "app/window/key_latch.h"

namespace lab::app {

void KeyLatch::key(int key, bool down) {
  if (key < 0 || static_cast<std::size_t>(key) >= kKeys) return;
  events_.push_back({static_cast<std::size_t>(key), down});
}

void KeyLatch::button(int button, bool down, PointerPlace at) {
  if (button < 0 || static_cast<std::size_t>(button) >= kButtons) return;
  events_.push_back({kKeys + static_cast<std::size_t>(button), down, at});
}

// A frame has one pointer position, so a button at a second place waits as well.
void KeyLatch::next_frame() {
  std::bitset<kKeys + kButtons> changed;
  clicked_at_.reset();
  while (!events_.empty()) {
    const Event& next = events_.front();
    if (changed[next.what]) return;
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
