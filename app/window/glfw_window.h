#pragma once
// The window with its OpenGL 3.3 context. Main thread only.
#include <memory>
#include <string>

#include "app/window/key_latch.h"

struct GLFWwindow;

namespace lab::app {

// Initialises GLFW; terminates it on destruction.
class GlfwSession {
 public:
  // Throws Error(Unsupported) with advice if there is no display.
  GlfwSession();
  ~GlfwSession();
  GlfwSession(const GlfwSession&) = delete;
  GlfwSession& operator=(const GlfwSession&) = delete;
};

struct WindowSize {
  int width = 1280, height = 800;
};
inline constexpr int kLeastWidth = 480, kLeastHeight = 360;

// Returns the part of the primary monitor that panels leave free, in the units of window sizes; 0
// by 0 if there is no monitor. Needs a GlfwSession.
WindowSize work_area();

class GlfwWindow {
 public:
  // Throws Error(Unsupported) if OpenGL 3.3 is missing. The window stays hidden until show().
  explicit GlfwWindow(WindowSize size);
  ~GlfwWindow();
  GlfwWindow(const GlfwWindow&) = delete;
  GlfwWindow& operator=(const GlfwWindow&) = delete;

  GLFWwindow* handle() const { return window_.get(); }
  void show();
  bool should_close() const;
  // Iconified or withdrawn, so that no frame is visible.
  bool hidden() const;
  WindowSize size() const;
  WindowSize framebuffer_size() const;
  // The monitor's scale; 1 at 96 dpi.
  float content_scale() const;
  // True if the CPU renders, which makes each frame expensive.
  bool software_rendering() const { return software_rendering_; }

  // Returns true if there was user input or the window contents were lost since the last call.
  bool take_redraw_request();
  void swap();

  // The user's keys and buttons, for Interface.
  KeyLatch& latch() { return latch_; }

 private:
  struct Destroy {
    void operator()(GLFWwindow* window) const;
  };
  void watch_events();
  std::unique_ptr<GLFWwindow, Destroy> window_;
  bool redraw_requested_ = true;
  KeyLatch latch_;
  // At the event that is handled; glfwGetCursorPos() returns where the pointer is by now.
  PointerPlace pointer_;
  bool software_rendering_ = false;
};

}  // namespace lab::app
