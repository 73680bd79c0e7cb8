#pragma once
// The one window with its OpenGL 3.3 context. Main thread only.
#include <memory>
#include <string>

struct GLFWwindow;

namespace lab::app {

// GLFW itself: from construction to destruction.
class GlfwSession {
 public:
  // Throws Error(Unsupported) with the way out when there is no display.
  GlfwSession();
  ~GlfwSession();
  GlfwSession(const GlfwSession&) = delete;
  GlfwSession& operator=(const GlfwSession&) = delete;
};

struct WindowSize {
  int width = 1280, height = 800;
};

class GlfwWindow {
 public:
  // Throws Error(Unsupported) when OpenGL 3.3 is missing. The window stays hidden until show().
  explicit GlfwWindow(WindowSize size);
  ~GlfwWindow();
  GlfwWindow(const GlfwWindow&) = delete;
  GlfwWindow& operator=(const GlfwWindow&) = delete;

  GLFWwindow* handle() const { return window_.get(); }
  void show();
  bool should_close() const;
  // Iconified or withdrawn: nobody can see a frame.
  bool hidden() const;
  WindowSize size() const;
  WindowSize framebuffer_size() const;
  // What the monitor asks for; 1 at 96 dpi.
  float content_scale() const;
  // The pixels are made by the processor, so each frame costs a lot of it.
  bool software_rendering() const { return software_rendering_; }

  // True when a person did something or the picture was lost since the last call.
  bool take_attention();
  void swap();

 private:
  struct Destroy {
    void operator()(GLFWwindow* window) const;
  };
  void watch_events();
  std::unique_ptr<GLFWwindow, Destroy> window_;
  bool attention_ = true;
  bool software_rendering_ = false;
};

}  // namespace lab::app
