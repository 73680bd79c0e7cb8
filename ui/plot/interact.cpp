// Pan, zoom, box and reset.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ui/plot/frame.h"
#include "ui/widgets/imgui_input.h"
#include "ui/widgets/item.h"

namespace lab::ui::plot {
namespace {

constexpr float kDragStart = 4;      // pixels before a press becomes a drag
constexpr double kWheelStep = 0.85;  // one notch closer

float axis_share(const AxisMap& map, float pixels) {
  return pixels / (map.to - map.from);
}

void keep_view(Frame& f) {
  f.state.x = f.x.range;
  f.state.y = f.y.range;
}

void pan(Frame& f, ImVec2 by) {
  f.state.x = panned(f.x.scale, f.x.range, -axis_share(f.x, by.x));
  f.state.y = panned(f.y.scale, f.y.range, -axis_share(f.y, by.y));
}

// With Ctrl, else the wheel scrolls the page. Alt keeps y as it is, Shift keeps x.
void wheel(Frame& f, ImVec2 mouse, float notches) {
  const double factor = std::pow(kWheelStep, static_cast<double>(notches));
  const ImGuiIO& io = ImGui::GetIO();
  keep_view(f);
  if (!io.KeyShift) {
    f.state.x = zoomed(f.x.scale, f.x.range, f.x.value(mouse.x), factor);
  }
  if (!io.KeyAlt) f.state.y = zoomed(f.y.scale, f.y.range, f.y.value(mouse.y), factor);
}

// Shift turns an upright wheel into a sideways one on some systems.
float notches_of(const ImGuiIO& io) {
  return io.MouseWheel != 0 ? io.MouseWheel : io.MouseWheelH;
}

ImVec2 inside(const Frame& f, ImVec2 p) {
  return {std::clamp(p.x, f.area_min.x, f.area_max.x), std::clamp(p.y, f.area_min.y, f.area_max.y)};
}

// A box that is thin in one direction zooms in the other only.
void apply_box(Frame& f, ImVec2 a, ImVec2 b) {
  const float least = f.ui.px(8);
  const bool wide = std::abs(a.x - b.x) >= least, tall = std::abs(a.y - b.y) >= least;
  if (!wide && !tall) return;
  keep_view(f);
  if (wide) {
    f.state.x = sane(f.x.scale, {f.x.value(std::min(a.x, b.x)), f.x.value(std::max(a.x, b.x))});
  }
  if (tall) {
    f.state.y = sane(f.y.scale, {f.y.value(std::max(a.y, b.y)), f.y.value(std::min(a.y, b.y))});
  }
}

bool dragging(ImGuiMouseButton button, const Ui& ui) {
  return ImGui::IsMouseDragging(button, ui.px(kDragStart));
}

void left_button(Frame& f, bool held) {
  const ImGuiIO& io = ImGui::GetIO();
  if (f.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    f.state.x.reset();
    f.state.y.reset();
    f.state.panning = false;
    return;
  }
  if (!held || !ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    f.state.panning = false;
    return;
  }
  if (!f.state.panning && dragging(ImGuiMouseButton_Left, f.ui)) {
    f.state.panning = true;
    pan(f, ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0));
  } else if (f.state.panning && (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
    pan(f, io.MouseDelta);
  }
}

void right_button(Frame& f, bool held) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (f.hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Right)) {
    f.state.box_start = inside(f, mouse);
  }
  if (held && dragging(ImGuiMouseButton_Right, f.ui)) f.state.boxing = true;
  if (!ImGui::IsMouseReleased(ImGuiMouseButton_Right)) return;
  if (f.state.boxing) {
    apply_box(f, f.state.box_start, inside(f, mouse));
    f.state.boxing = false;
  } else if (f.hovered) {
    ImGui::OpenPopup((f.path + "/menu").c_str());
  }
}

}  // namespace

void interact(Frame& f) {
  const std::string name = f.path + "/area";
  const ImGuiID id = ImGui::GetID(name.c_str());
  const ImRect box(f.area_min, f.area_max);
  if (!ImGui::ItemAdd(box, id)) return;
  bool held = false;
  const bool pressed =
      ImGui::ButtonBehavior(box, id, &f.hovered, &held,
                            ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  f.hovered = f.hovered && ImGui::IsMouseHoveringRect(box.Min, box.Max);
  focus_ring(f.ui, {.min = f.min, .max = f.max, .id = id, .visible = true}, f.ui.px(4));
  const PlotState before = f.state;
  const ImGuiIO& io = ImGui::GetIO();
  const bool by_key = pressed && !ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
                      !ImGui::IsMouseReleased(ImGuiMouseButton_Right);
  if (by_key || enter_pressed_on(id)) ImGui::OpenPopup((f.path + "/menu").c_str());
  if (f.hovered && io.KeyCtrl) {
    claim_wheel();
    if (notches_of(io) != 0) wheel(f, io.MousePos, notches_of(io));
  }
  left_button(f, held);
  right_button(f, held);
  if (before.x != f.state.x || before.y != f.state.y) f.ui.wants_animation = true;
}

void draw_box(const Frame& f) {
  if (!f.state.boxing) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 a = f.state.box_start, b = inside(f, ImGui::GetIO().MousePos);
  const ImVec2 min(std::min(a.x, b.x), std::min(a.y, b.y));
  const ImVec2 max(std::max(a.x, b.x), std::max(a.y, b.y));
  list->AddRectFilled(min, max, with_alpha(f.ui.theme->accent, 0.12F));
  list->AddRect(min, max, with_alpha(f.ui.theme->accent, 0.8F), 0, 0,
                std::max(1.0F, std::floor(f.ui.scale)));
}

}  // namespace lab::ui::plot
