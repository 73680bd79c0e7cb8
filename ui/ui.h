#pragma once
// State that every panel and widget receives: theme, scale, and the map of visible widgets.
#include <imgui.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/plot/plot_state.h"
#include "ui/theme.h"

namespace lab::ui {

// A visible widget, for --describe-ui, --script and tests. Positions are in window pixels.
struct WidgetRect {
  std::string path = {};  // "training/start", "rail/matmul", "matmul/plot/gflops"
  std::string kind = {};  // "button", "input", "combo", "checkbox", "plot", "tab", "text", ...
  std::string label = {};
  std::string value = {};       // current text or choice, if any
  ImVec2 min{0, 0}, max{0, 0};  // clipped to the visible part
  bool enabled = true;
};

class WidgetMap {
 public:
  void begin_frame() { widgets_.clear(); }
  void add(WidgetRect rect) { widgets_.push_back(std::move(rect)); }
  const std::vector<WidgetRect>& all() const { return widgets_; }
  // Returns null if the widget is not visible.
  const WidgetRect* find(std::string_view path) const {
    const auto it = std::find_if(widgets_.begin(), widgets_.end(),
                                 [&](const WidgetRect& w) { return w.path == path; });
    return it == widgets_.end() ? nullptr : &*it;
  }

 private:
  std::vector<WidgetRect> widgets_;
};

// State private to the widgets, by path. Panels neither read nor write it.
struct WidgetMemory {
  struct Table {
    std::string path;
    std::vector<bool> number = {};   // true for columns that hold numbers
    std::vector<float> wanted = {};  // widest text of each column, pixels
    int row = -1, column = -1;
    float row_height = 0;       // of the row being filled, pixels
    std::string row_text = {};  // cells of the row so far, tab-separated
    ImVec2 row_min{0, 0}, row_max{0, 0};
  };
  struct CardRow {         // Row whose cards have equal height
    std::string key = {};  // path of its first card
    float tallest = 0;     // largest natural height of its cards, units
    float extra = 0;       // added to `tallest`, units
  };
  struct Card {
    std::string path = {}, title = {}, note = {};
    bool automatic = false;  // height follows the content
    float grown = 0;         // content that only fills spare space, pixels
    CardRow* row = nullptr;  // enclosing row, if any
  };
  std::map<std::string, float> card_heights;   // natural heights, units
  std::map<std::string, float> row_heights;    // CardRow::tallest of the previous frame
  std::map<std::string, float> spare_heights;  // unused height of each page, units
  float stretched = 0;                         // part of it handed out in this frame, units
  float form_follows = 0;  // how far the form is below its place, to stay in sight, pixels
  std::map<std::string, std::vector<float>> column_widths;  // of the previous frame, pixels
  std::map<std::string, std::string> edits;                 // number fields' invalid text, by path
  struct Notice {
    std::string text = {};
    std::string value = {};  // that it is about; another one settles it
    double until_s = 0;
  };
  struct Recall {             // the texts entered earlier in a field
    std::size_t entered = 0;  // their number; another one starts anew
    std::size_t back = 0;     // how many of them before the one being typed is shown
    std::string typed = {};   // what Down returns to
  };
  std::map<std::string, Recall> recalls;  // by path
  std::map<std::string, Notice> notices;  // number fields that replaced what was typed, by path
  std::vector<Card> cards;                // open cards, outermost first
  std::vector<Table> tables;              // open tables, outermost first
  CardRow* card_row = nullptr;            // row being drawn; only for cards directly in it
  std::string lock = {};                  // reason of the Locked being drawn; empty: none
  unsigned hovered_id = 0;                // item under the pointer, the time since when,
  double hovered_since_s = 0;
  int hovered_frame = -1;  // and the last frame in which it was seen
  // Where the pointer was when it pressed something, or when the page or the job changed under it.
  // Until it moves, nothing below it is explained.
  std::optional<ImVec2> rest = {};
};

// Most builds until the layout is stable: card heights come from the previous build, and the spare
// height of a page from its cards.
inline constexpr int kFrameBuilds = 4;

struct Ui {
  const Theme* theme = nullptr;
  Fonts fonts;
  float scale = 1;
  double time_s = 0;             // lab time of this frame
  bool wants_animation = false;  // set by easing widgets to request the next frame
  bool popup_open = false;       // in the previous frame: a list, a menu or a dialog
  bool wants_layout = false;     // sizes changed: build the frame again, up to kFrameBuilds times
  WidgetMap widgets;             // filled while the frame is drawn
  std::map<std::string, plot::PlotState> plots;  // view state of each plot, by path
  std::map<std::string, float> eased;            // animated values, by path
  WidgetMemory memory;

  float px(float units) const { return units * scale; }
};

}  // namespace lab::ui
