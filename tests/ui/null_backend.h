#pragma once
// Headless ImGui backend: lays out frames and takes input from the test; nothing is displayed.
#include <gtest/gtest.h>
#include <imgui.h>

#include <functional>
#include <string>
#include <string_view>

#include "ui/fonts.h"
#include "ui/ui.h"
#include "ui/widgets/imgui_input.h"

namespace lab::test {

class NullBackend {
 public:
  explicit NullBackend(float scale = 1, ImVec2 size = {1280, 800},
                       ui::ThemeMode mode = ui::ThemeMode::Dark)
      : context_(ImGui::CreateContext()) {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.DisplaySize = size;
    io.DeltaTime = 1.0F / 60;
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    io.SetClipboardTextFn = [](void* user, const char* text) {
      *static_cast<std::string*>(user) = text;
    };
    io.GetClipboardTextFn = [](void* user) {
      return static_cast<const std::string*>(user)->c_str();
    };
    io.ClipboardUserData = &clipboard;
    ui::map_keys(io);
    ui.theme = &ui::theme(mode);
    ui.scale = scale;
    io.UserData = &fonts;
    ui.fonts = fonts.load(scale);
    ui::apply_style(*ui.theme, scale);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
    move_to({-1, -1});
  }
  ~NullBackend() { ImGui::DestroyContext(context_); }
  NullBackend(const NullBackend&) = delete;
  NullBackend& operator=(const NullBackend&) = delete;

  // Runs `draw` as one frame.
  void raw_frame(const std::function<void()>& draw) {
    ui::new_frame();
    ui.time_s += static_cast<double>(ImGui::GetIO().DeltaTime);
    ui.wants_animation = false;
    ui.wants_layout = false;
    ui.widgets.begin_frame();
    draw();
    ImGui::Render();
  }
  // Runs `draw` as one frame, inside a window that covers the display.
  void frame(const std::function<void()>& draw) {
    raw_frame([&] {
      ImGui::SetNextWindowPos({0, 0});
      ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
      ImGui::Begin("test", nullptr,
                   ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                       ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoSavedSettings);
      draw();
      ImGui::End();
    });
  }
  void frames(int n, const std::function<void()>& draw) {
    for (int i = 0; i < n; ++i) frame(draw);
  }

  // --- input, effective in the next frame ----------------------------------------------------
  void move_to(ImVec2 at) { ui::send_pointer(ImGui::GetIO(), at); }
  void mouse(int button, bool down) { ui::send_button(ImGui::GetIO(), button, down); }
  void wheel(float notches) { ui::send_wheel(ImGui::GetIO(), notches); }
  void control(bool down) { ui::send_modifiers(ImGui::GetIO(), {.ctrl = true}, down); }
  // `key` is one of GLFW_KEY_*.
  void key(int key, bool down) { ui::send_key(ImGui::GetIO(), key, down); }
  void type(std::string_view text) {
    ImGui::GetIO().AddInputCharactersUTF8(std::string(text).c_str());
  }

  // --- gestures, each of several frames ------------------------------------------------------
  void click_at(ImVec2 at, const std::function<void()>& draw, int button = 0) {
    move_to(at);
    frame(draw);
    mouse(button, true);
    frame(draw);
    mouse(button, false);
    frame(draw);
    frame(draw);
  }
  // Fails the test if no widget with that path is visible.
  void click(std::string_view path, const std::function<void()>& draw, int button = 0) {
    const ui::WidgetRect* w = find(path);
    if (w != nullptr) click_at(centre(*w), draw, button);
  }
  void drag(ImVec2 from, ImVec2 to, const std::function<void()>& draw, int button = 0) {
    move_to(from);
    frame(draw);
    mouse(button, true);
    frame(draw);
    move_to({(from.x + to.x) / 2, (from.y + to.y) / 2});
    frame(draw);
    move_to(to);
    frame(draw);
    mouse(button, false);
    frame(draw);
    frame(draw);
  }
  void press(int which, const std::function<void()>& draw) {
    key(which, true);
    frame(draw);
    key(which, false);
    frame(draw);
  }
  // Leaves the pointer at rest long enough for a tooltip.
  void rest(const std::function<void()>& draw) { frames(40, draw); }

  const ui::WidgetRect* find(std::string_view path) const {
    const ui::WidgetRect* w = ui.widgets.find(path);
    EXPECT_NE(w, nullptr) << "no visible widget " << path;
    return w;
  }
  static ImVec2 centre(const ui::WidgetRect& w) {
    return {(w.min.x + w.max.x) / 2, (w.min.y + w.max.y) / 2};
  }

  ui::FontSet fonts;
  ui::Ui ui;
  std::string clipboard;

 private:
  ImGuiContext* context_;
};

}  // namespace lab::test
