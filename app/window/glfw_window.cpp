#include "app/window/glfw_window.h"

#include <glad/gl.h>
// glad must come first: GLFW must not include the system's OpenGL header.
#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "app/window/icon.h"
#include "compute/core/error.h"
#include "compute/core/files/whole_file.h"
#include "compute/core/language.h"

namespace lab::app {
namespace {

constexpr const char* kNoDisplayAdvice = LAB_TEXT(
    "run 'device-lab tour' in the terminal, or 'xvfb-run -a device-lab ...' for a virtual "
    "display");

std::string glfw_reason() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text == nullptr ? tr("no reason given") : text;
}

void set_icon(GLFWwindow* window) {
  std::array<Icon, 4> icons = {make_icon(16), make_icon(32), make_icon(48), make_icon(128)};
  std::vector<GLFWimage> images;
  images.reserve(icons.size());
  for (Icon& icon : icons) images.push_back({icon.side, icon.side, icon.rgba.data()});
  glfwSetWindowIcon(window, static_cast<int>(images.size()), images.data());
}

bool is_software(std::string_view renderer) {
  constexpr std::array<std::string_view, 4> kNames = {"llvmpipe", "softpipe", "SWR", "Software"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return renderer.find(name) != std::string_view::npos;
  });
}

// Xlib would block on a file that is not regular. /dev/null is the conventional way to specify no
// authority file.
void check_authority_file() {
  // NOLINTBEGIN(concurrency-mt-unsafe): never set here
  const char* named = std::getenv("XAUTHORITY");
  const char* home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  if (named == nullptr && home == nullptr) return;
  const std::filesystem::path file =
      named != nullptr ? std::filesystem::path(named) : std::filesystem::path(home) / ".Xauthority";
  std::error_code ignored;
  if (file == "/dev/null" || (named == nullptr && !std::filesystem::exists(file, ignored))) return;
  try {
    files::require_regular(file);
  } catch (const Error& e) {
    throw Error(e.code(),
                trf("cannot open a display (XAUTHORITY: {}); {}", e.what(), tr(kNoDisplayAdvice)));
  }
}

}  // namespace

GlfwSession::GlfwSession() {
  check_authority_file();
  if (glfwInit() == GLFW_TRUE) return;
  throw Error(Errc::Unsupported,
              trf("cannot open a display ({}); {}", glfw_reason(), tr(kNoDisplayAdvice)));
}

GlfwSession::~GlfwSession() {
  glfwTerminate();
}

WindowSize work_area() {
  WindowSize area{0, 0};
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  if (monitor != nullptr) {
    glfwGetMonitorWorkarea(monitor, nullptr, nullptr, &area.width, &area.height);
  }
  return area;
}

void GlfwWindow::Destroy::operator()(GLFWwindow* window) const {
  glfwDestroyWindow(window);
}

GlfwWindow::GlfwWindow(WindowSize size) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  glfwWindowHint(GLFW_DEPTH_BITS, 0);
  glfwWindowHint(GLFW_STENCIL_BITS, 0);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "device-lab");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "device-lab");
  window_.reset(glfwCreateWindow(size.width, size.height, "Device Lab", nullptr, nullptr));
  if (!window_) {
    throw Error(Errc::Unsupported, trf("cannot create an OpenGL 3.3 window ({}); {}", glfw_reason(),
                                       tr(kNoDisplayAdvice)));
  }
  glfwMakeContextCurrent(handle());
  if (gladLoadGL(glfwGetProcAddress) == 0) {
    throw Error(Errc::Unsupported, trf("OpenGL 3.3 could not be loaded; {}", tr(kNoDisplayAdvice)));
  }
  glfwSwapInterval(1);
  glfwSetWindowSizeLimits(handle(), kLeastWidth, kLeastHeight, GLFW_DONT_CARE, GLFW_DONT_CARE);
  const auto* renderer = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  software_rendering_ = renderer != nullptr && is_software(renderer);
  set_icon(handle());
  watch_events();
}

GlfwWindow::~GlfwWindow() = default;

// Installed before ImGui's callbacks, which chain to these.
void GlfwWindow::watch_events() {
  glfwSetWindowUserPointer(handle(), this);
  struct Note {
    GlfwWindow& operator()(GLFWwindow* window) const {
      auto& self = *static_cast<GlfwWindow*>(glfwGetWindowUserPointer(window));
      self.redraw_requested_ = true;
      return self;
    }
  };
  glfwSetCursorPosCallback(handle(), [](GLFWwindow* w, double x, double y) {
    Note{}(w).pointer_ = {static_cast<float>(x), static_cast<float>(y)};
  });
  glfwSetCursorEnterCallback(handle(), [](GLFWwindow* w, int) { Note{}(w); });
  glfwSetMouseButtonCallback(handle(), [](GLFWwindow* w, int button, int action, int) {
    GlfwWindow& self = Note{}(w);
    self.latch_.button(button, action == GLFW_PRESS, self.pointer_);
  });
  glfwSetScrollCallback(handle(), [](GLFWwindow* w, double, double) { Note{}(w); });
  glfwSetKeyCallback(handle(), [](GLFWwindow* w, int key, int, int action, int) {
    GlfwWindow& self = Note{}(w);
    if (action != GLFW_REPEAT) self.latch_.key(key, action == GLFW_PRESS);
  });
  glfwSetCharCallback(handle(), [](GLFWwindow* w, unsigned) { Note{}(w); });
  glfwSetWindowFocusCallback(handle(), [](GLFWwindow* w, int) { Note{}(w); });
  glfwSetWindowIconifyCallback(handle(), [](GLFWwindow* w, int) { Note{}(w); });
  glfwSetFramebufferSizeCallback(handle(), [](GLFWwindow* w, int, int) { Note{}(w); });
  glfwSetWindowContentScaleCallback(handle(), [](GLFWwindow* w, float, float) { Note{}(w); });
  glfwSetWindowRefreshCallback(handle(), [](GLFWwindow* w) { Note{}(w); });
}

void GlfwWindow::show() {
  glfwShowWindow(handle());
}

bool GlfwWindow::should_close() const {
  return glfwWindowShouldClose(handle()) == GLFW_TRUE;
}

bool GlfwWindow::hidden() const {
  return glfwGetWindowAttrib(handle(), GLFW_ICONIFIED) == GLFW_TRUE ||
         glfwGetWindowAttrib(handle(), GLFW_VISIBLE) == GLFW_FALSE;
}

WindowSize GlfwWindow::size() const {
  WindowSize size;
  glfwGetWindowSize(handle(), &size.width, &size.height);
  return size;
}

WindowSize GlfwWindow::framebuffer_size() const {
  WindowSize size;
  glfwGetFramebufferSize(handle(), &size.width, &size.height);
  return size;
}

float GlfwWindow::content_scale() const {
  float x = 1;
  float y = 1;
  glfwGetWindowContentScale(handle(), &x, &y);
  return std::max({x, y, 1.0F});
}

bool GlfwWindow::take_redraw_request() {
  return std::exchange(redraw_requested_, false);
}

void GlfwWindow::swap() {
  glfwSwapBuffers(handle());
}

}  // namespace lab::app
