#pragma once
// Keeps presses that are shorter than a frame: a key or a button changes at most once per frame,
// and what remains is left to the next frames. For ImGui before release 1.87, whose fields hold
// only the latest state; newer releases queue events themselves.
#include <bitset>
#include <cstddef>
#include <deque>
#include <optional>

namespace lab::app {

struct PointerPlace {
  float x = 0, y = 0;
};

// Main thread only.
class KeyLatch {
 public:
  static constexpr std::size_t kKeys = 512;  // as ImGuiIO::KeysDown
  static constexpr std::size_t kButtons = 5;

  void key(int key, bool down);
  void button(int button, bool down, PointerPlace at);

  // Moves on to the next frame. Events are taken in order up to the first that changes something a
  // second time, or a modifier after a press.
  void next_frame();

  // State of this frame.
  bool key_down(std::size_t key) const { return keys_[key]; }
  bool button_down(std::size_t button) const { return buttons_[button]; }
  // Where a button changed in this frame; empty if none did.
  const std::optional<PointerPlace>& clicked_at() const { return clicked_at_; }
  // Whether further frames are needed.
  bool pending() const { return !events_.empty(); }

 private:
  struct Event {
    std::size_t what = 0;  // key, or kKeys + button
    bool down = false;
    PointerPlace at = {};
  };
  std::deque<Event> events_;
  std::bitset<kKeys> keys_;
  std::bitset<kButtons> buttons_;
  std::optional<PointerPlace> clicked_at_;
};

}  // namespace lab::app
