#include "app/window/interface.h"

#include <glad/gl.h>
// glad must come first: no other header may include the system's OpenGL header.
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "compute/run/lab_clock.h"
#include "ui/widgets/imgui_input.h"

namespace lab::app {

Interface::Interface(GlfwWindow& window, ui::FontSet& fonts, bool listen)
    : window_(window), fonts_(fonts), listens_(listen) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // the lab saves its own settings
  io.LogFilename = nullptr;
  io.UserData = &fonts_;
  io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
  ImGui_ImplGlfw_InitForOpenGL(window.handle(), listen);
  ImGui_ImplOpenGL3_Init("#version 330 core");
}

Interface::~Interface() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

void Interface::set_look(ui::ThemeMode mode, float scale, Language language) {
  // Sizes are in window coordinates. On X11 these are pixels, so the monitor's scale is applied
  // here.
  const float pixels_per_unit = static_cast<float>(window_.framebuffer_size().width) /
                                static_cast<float>(std::max(1, window_.size().width));
  const float monitor = window_.content_scale() / std::max(1.0F, pixels_per_unit);
  const float wanted = std::round(scale * std::max(1.0F, monitor) * 100) / 100;
  if (mode != mode_ || wanted != wanted_scale_) style_stale_ = true;
  const Language shown = fonts_.shows(language) ? language : Language::English;
  if (shown != lab::language()) {
    set_language(shown);
    fonts_stale_ = true;
  }
  mode_ = mode;
  wanted_scale_ = wanted;
}

void Interface::rebuild_fonts() {
  ui_.fonts = fonts_.load(ui_.scale);
  ImGui::GetIO().FontDefault = ui_.fonts.body;
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

void Interface::begin_frame(const FrameInput& input) {
  if (style_stale_) {
    ui_.theme = &ui::theme(mode_);
    if (ui_.scale != wanted_scale_) fonts_stale_ = true;
    ui_.scale = wanted_scale_;
    ui::apply_style(*ui_.theme, ui_.scale);
    style_stale_ = false;
  }
  if (fonts_stale_ || fonts_.stale()) {
    ImGui_ImplOpenGL3_NewFrame();  // creates the device objects that the font texture needs
    rebuild_fonts();
    fonts_stale_ = false;
  }
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  take_user_input();
  if (input.scripted != nullptr) input.scripted->apply(ImGui::GetIO());
  if (input.pointer_away) ui::send_pointer(ImGui::GetIO(), {-FLT_MAX, -FLT_MAX});
  ui::new_frame();
  ui_.time_s = lab_time_s();
  ui_.wants_animation = false;
  ui_.wants_layout = false;
  ui_.widgets.begin_frame();
}

// Releases of ImGui before 1.87 would miss presses shorter than a frame, which lasts 200 ms while
// something is timed.
void Interface::take_user_input() {
  KeyLatch& latch = window_.latch();
  latch.next_frame();
  if (!listens_) return;
#if IMGUI_VERSION_NUM < 18700
  ImGuiIO& io = ImGui::GetIO();
  for (std::size_t key = 0; key < KeyLatch::kKeys; ++key) io.KeysDown[key] = latch.key_down(key);
  const auto down = [&](int left, int right) {
    return latch.key_down(static_cast<std::size_t>(left)) ||
           latch.key_down(static_cast<std::size_t>(right));
  };
  io.KeyCtrl = down(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
  io.KeyShift = down(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
  io.KeyAlt = down(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
  for (std::size_t b = 0; b < KeyLatch::kButtons; ++b) io.MouseDown[b] = latch.button_down(b);
  if (latch.clicked_at()) io.MousePos = {latch.clicked_at()->x, latch.clicked_at()->y};
#endif
}

bool Interface::input_pending() {
  return window_.latch().pending() || ui::input_queued();
}

void Interface::end_frame() {
  ImGui::Render();
  fonts_.forget_cut_texts();
  if (fonts_.stale()) ui_.wants_layout = true;
}

void Interface::render() {
  const WindowSize size = window_.framebuffer_size();
  glViewport(0, 0, size.width, size.height);
  const ImVec4 page = ImGui::ColorConvertU32ToFloat4(ui_.theme->page);
  glClearColor(page.x, page.y, page.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace lab::app
