#pragma once
// Dear ImGui on the window: context, backends, fonts that follow the scale, and the frame cycle.
#include <imgui.h>

#include "app/automation/synthetic_input.h"
#include "app/window/glfw_window.h"
#include "compute/core/language.h"
#include "ui/fonts.h"
#include "ui/theme.h"
#include "ui/ui.h"

namespace lab::app {

class Interface {
 public:
  // With `listen` false the user's mouse and keyboard are ignored, for scripts.
  Interface(GlfwWindow& window, ui::FontSet& fonts, bool listen);
  ~Interface();
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;

  // Takes effect with the next frame; cheap if nothing changes. `scale` is the user's and is
  // multiplied by the monitor's. Without a font for `language` the texts stay English.
  void set_look(ui::ThemeMode mode, float scale, Language language);

  struct FrameInput {
    const SyntheticInput* scripted = nullptr;  // replaces the user's input
    bool pointer_away = false;                 // nothing is hovered in this frame
  };
  // The caller draws between these two calls.
  void begin_frame(const FrameInput& input);
  void end_frame();
  // Renders the frame into the back buffer; the caller swaps.
  void render();

  ui::Ui& ui() { return ui_; }
  // The user's input is not yet used up: further frames are needed.
  bool input_pending();

 private:
  void rebuild_fonts();
  void take_user_input();
  GlfwWindow& window_;
  ui::FontSet& fonts_;
  const bool listens_;
  ui::Ui ui_;
  ui::ThemeMode mode_ = ui::ThemeMode::Dark;
  float wanted_scale_ = 1;
  bool style_stale_ = true, fonts_stale_ = true;
};

}  // namespace lab::app
