#pragma once
// Models for every state of a page, and the application drawn on the null backend.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ui/events.h"
#include "tests/ui/null_backend.h"
#include "ui/pages/lab_view.h"
#include "ui/pages/panel.h"

namespace lab::test {

enum class Scene { Empty, Running, Done, Failed };

// A model with all content that the page can show in that state; the machine has two CPU devices.
ui::Model make_scene(ui::Page page, Scene scene);

// Training of resnet18 on Fashion-MNIST on many devices, the same on every rank.
struct ManyDevices {
  int devices = 2;  // total over all ranks
  int ranks = 1;
  SharePolicy policy = SharePolicy::Equal;
};
ui::Model make_many_devices(const ManyDevices& what, Scene scene);

// Training with a per-layer profile.
struct Layers {
  bool both = false;  // profiles the library's kernels in addition to the lab's
  int layers = 3;
  bool profile = true;  // false: still warming up
};
ui::Model make_layers(const Layers& what, Scene scene);

// The application window, with the user's actions as functions.
class Lab {
 public:
  explicit Lab(ui::Model shown, float scale = 1, ImVec2 size = {1280, 720},
               ui::ThemeMode mode = ui::ThemeMode::Dark)
      : backend(scale, size, mode), model(std::move(shown)) {
    view.scale = scale;
    view.mode = mode;
  }

  void frame() {
    backend.raw_frame([&] { ui::draw_lab(backend.ui, model, view, out); });
  }
  void frames(int n) {
    for (int i = 0; i < n; ++i) frame();
  }
  void open(ui::Page page) {
    view.page = page;
    frames(6);
  }
  void show(ui::Model shown) {
    model = std::move(shown);
    frames(6);
  }

  // Fails the test if no widget with that path is visible.
  void click(std::string_view path, int button = 0) {
    const ui::WidgetRect* w = backend.find(path);
    if (w == nullptr) return;
    backend.move_to(NullBackend::centre(*w));
    frame();
    backend.mouse(button, true);
    frame();
    backend.mouse(button, false);
    frames(3);
  }
  // Scrolls the page down until the widget is in view, then clicks it.
  void scroll_to_and_click(std::string_view path);
  void scroll(float notches);
  void type(std::string_view text) {
    backend.type(text);
    frames(2);
  }
  // `key` is one of GLFW_KEY_*.
  void press(int key, bool control = false);

  // The explanation of the widget; empty without one.
  std::string tooltip_of(std::string_view path) {
    const ui::WidgetRect* w = backend.find(path);
    if (w == nullptr) return "";
    backend.move_to(NullBackend::centre(*w));
    frames(60);
    const ui::WidgetRect* tip = backend.ui.widgets.find("tooltip");
    return tip == nullptr ? "" : tip->value;
  }

  bool visible(std::string_view path) const { return backend.ui.widgets.find(path) != nullptr; }

  // Labels of a plot's legend, in its order.
  std::vector<std::string> legend(std::string_view plot) const;

  // The context of one frame, for parts of a page that are tested alone.
  ui::Panel panel() { return {backend.ui, model, view, out}; }

  // Commands of type T sent so far.
  template <typename T>
  std::vector<T> sent() const {
    std::vector<T> found;
    for (const Command& c : out) {
      if (const T* p = std::get_if<T>(&c)) found.push_back(*p);
    }
    return found;
  }

  NullBackend backend;
  ui::Model model;
  ui::ViewState view;
  Commands out;
};

// What the last frame drew; ImGui 1.89 changed the type of its list.
inline std::vector<const ImDrawList*> drawn_lists() {
  const ImDrawData& drawn = *ImGui::GetDrawData();
  std::vector<const ImDrawList*> lists;
  lists.reserve(static_cast<std::size_t>(drawn.CmdListsCount));
  for (int i = 0; i < drawn.CmdListsCount; ++i) lists.push_back(drawn.CmdLists[i]);
  return lists;
}

// Counts the vertices of a colour that were drawn inside a widget.
inline std::size_t drawn_in(const ui::WidgetRect& rect, ImU32 color) {
  std::size_t count = 0;
  for (const ImDrawList* list : drawn_lists()) {
    for (const ImDrawVert& v : list->VtxBuffer) {
      count += v.col == color && v.pos.x >= rect.min.x && v.pos.x <= rect.max.x &&
               v.pos.y >= rect.min.y && v.pos.y <= rect.max.y;
    }
  }
  return count;
}

}  // namespace lab::test
