#pragma once
// What every panel and widget is handed: looks, scale, and the map of what is where.
#include <imgui.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ui/plot/plot_state.h"
#include "ui/theme.h"

namespace lab::ui {

// One visible widget, for --describe-ui, --script and tests. Pixels of the window.
struct WidgetRect {
  std::string path;  // "training/start", "rail/matmul", "matmul/plot/gflops"
  std::string kind;  // "button", "input", "combo", "checkbox", "plot", "tab", "text", ...
  std::string label;
  std::string value;  // current text or choice, where there is one
  ImVec2 min, max;    // clipped to what can be seen
  bool enabled = true;
};

class WidgetMap {
 public:
  void begin_frame() { widgets_.clear(); }
  void add(WidgetRect rect) { widgets_.push_back(std::move(rect)); }
  const std::vector<WidgetRect>& all() const { return widgets_; }
  const WidgetRect* find(std::string_view path) const;  // null when not visible

 private:
  std::vector<WidgetRect> widgets_;
};

struct Ui {
  const Theme* theme = nullptr;
  Fonts fonts;
  float scale = 1;
  double time_s = 0;             // lab time of this frame
  bool wants_animation = false;  // set by a widget that eases: draw the next frame too
  WidgetMap widgets;             // of this frame, filled while drawing
  std::map<std::string, plot::PlotState> plots;  // view of each plot, by path
  std::map<std::string, float> eased;            // animated values, by path

  float px(float units) const { return units * scale; }
};

}  // namespace lab::ui
