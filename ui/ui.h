#pragma once
// What every panel and widget is handed: looks, scale, and the map of what is where.
#include <imgui.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ui/plot/plot_state.h"
#include "ui/theme.h"

namespace lab::ui {

// One visible widget, for --describe-ui, --script and tests. Pixels of the window.
struct WidgetRect {
  std::string path = {};  // "training/start", "rail/matmul", "matmul/plot/gflops"
  std::string kind = {};  // "button", "input", "combo", "checkbox", "plot", "tab", "text", ...
  std::string label = {};
  std::string value = {};       // current text or choice, where there is one
  ImVec2 min{0, 0}, max{0, 0};  // clipped to what can be seen
  bool enabled = true;
};

class WidgetMap {
 public:
  void begin_frame() { widgets_.clear(); }
  void add(WidgetRect rect) { widgets_.push_back(std::move(rect)); }
  const std::vector<WidgetRect>& all() const { return widgets_; }
  // Null when not visible.
  const WidgetRect* find(std::string_view path) const {
    const auto it = std::find_if(widgets_.begin(), widgets_.end(),
                                 [&](const WidgetRect& w) { return w.path == path; });
    return it == widgets_.end() ? nullptr : &*it;
  }

 private:
  std::vector<WidgetRect> widgets_;
};

// What widgets keep for themselves, by path: panels neither read nor write it.
struct WidgetMemory {
  struct Table {
    std::string path;
    std::vector<bool> number = {};   // which columns hold numbers
    std::vector<float> wanted = {};  // width of each column's widest text, pixels
    int row = -1, column = -1;
    float row_height = 0;       // of the row being filled, pixels
    std::string row_text = {};  // cells of the row so far, tab-separated
    ImVec2 row_min{0, 0}, row_max{0, 0};
  };
  struct CardRow {         // a Row whose cards are equally high
    std::string key = {};  // path of its first card
    float tallest = 0;     // natural height of its cards, units
    float extra = 0;       // on top of that, units
  };
  struct Card {
    std::string path = {}, title = {};
    bool automatic = false;  // height follows the content
    float grown = 0;         // pixels that content takes only because there was room
    CardRow* row = nullptr;  // around it
  };
  std::map<std::string, float> card_heights;                // natural height, units
  std::map<std::string, float> row_heights;                 // CardRow::tallest of the frame before
  std::map<std::string, float> spare_heights;               // what a page leaves free, units
  float stretched = 0;                                      // of that taken in this frame
  std::map<std::string, std::vector<float>> column_widths;  // wanted ones of the frame before
  std::map<std::string, std::string> edits;  // text of a number field that does not fit yet
  std::vector<Card> cards;                   // open ones, outermost first
  std::vector<Table> tables;                 // open ones, outermost first
  CardRow* card_row = nullptr;               // being drawn, for cards that lie directly in it
  unsigned hovered_id = 0;                   // what the pointer rests on, since when,
  double hovered_since_s = 0;
  int hovered_frame = -1;  // and seen last in which frame
};

struct Ui {
  const Theme* theme = nullptr;
  Fonts fonts;
  float scale = 1;
  double time_s = 0;             // lab time of this frame
  bool wants_animation = false;  // set by a widget that eases: draw the next frame too
  bool wants_layout = false;     // sizes changed: the next frame is due even if nobody looks
  WidgetMap widgets;             // of this frame, filled while drawing
  std::map<std::string, plot::PlotState> plots;  // view of each plot, by path
  std::map<std::string, float> eased;            // animated values, by path
  WidgetMemory memory;

  float px(float units) const { return units * scale; }
};

}  // namespace lab::ui
