#pragma once
// Dear ImGui on the window: context, backends, fonts that follow the scale, one frame at a time.
#include <imgui.h>

#include "app/automation/synthetic_input.h"
#include "app/window/glfw_window.h"
#include "ui/theme.h"
#include "ui/ui.h"

namespace lab::app {

class Interface {
 public:
  // `listen` false: the person's mouse and keyboard are ignored, a script has the window.
  Interface(GlfwWindow& window, bool listen);
  ~Interface();
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;

  // Takes effect with the next frame; cheap when nothing changes. `scale` is the person's; the
  // monitor's comes on top.
  void set_look(ui::ThemeMode mode, float scale);

  struct FrameInput {
    const SyntheticInput* scripted = nullptr;  // takes the place of the person
    bool pointer_away = false;                 // nothing is hovered in this frame
  };
  // Between these two the caller draws.
  void begin_frame(const FrameInput& input);
  // Draws into the back buffer; the caller swaps.
  void end_frame();

  ui::Ui& ui() { return ui_; }

 private:
  void rebuild_fonts();
  GlfwWindow& window_;
  ui::Ui ui_;
  ui::ThemeMode mode_ = ui::ThemeMode::Dark;
  float wanted_scale_ = 1;
  bool style_stale_ = true;
};

}  // namespace lab::app
