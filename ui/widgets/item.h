#pragma once
// Building blocks of the controls: keyboard-reachable button behaviour, focus ring, fitted text,
// easing. For use inside ui/ only; panels use widgets.h.
#include <imgui.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ui/ui.h"

namespace lab::ui {

inline constexpr float kControlHeight = 32;  // units
inline constexpr float kControlRadius = 6;

struct Item {
  ImVec2 min, max;
  unsigned id = 0;
  bool visible = false;  // false: scrolled out of sight, draw nothing
  bool hovered = false, held = false, pressed = false;
};

// Lays out a control of this size at the cursor, identified by its path. With `enabled` false it
// keeps its place but cannot be pressed.
Item control(std::string_view path, ImVec2 size, bool enabled = true);
// The same at a fixed position inside another control; takes no layout space. With `nav` false the
// keyboard skips it because the enclosing control has a key for it.
Item control_at(std::string_view path, ImVec2 min, ImVec2 max, bool enabled = true,
                bool nav = true);

// Whether keys go to the item: the keyboard reached it, or it was the last one clicked.
bool has_keys(const Item& item);
// The same for the previous control, such as a button.
bool last_item_has_keys();
// Gives an item of this window the keyboard focus, with its ring, as if the arrow keys had.
void focus_item(ImGuiID id);

// Draws the background of a row of a list.
void row_background(const Ui& ui, const Item& item, bool selected);
// Draws a ring around the item while it has keyboard focus.
void focus_ring(const Ui& ui, const Item& item, float radius);

// Equal columns that fill their lines as evenly as possible.
struct EvenColumns {
  std::size_t lines = 0, columns = 0;
};
// For `count` entries, of which `fit` fit beside each other; both at least 1.
EvenColumns even_columns(std::size_t count, std::size_t fit);

// Records `min..max`, clipped to the window's clip rectangle; records nothing if fully hidden.
void record_rect(Ui& ui, std::string_view path, std::string_view kind, std::string_view label,
                 std::string_view value, bool enabled, ImVec2 min, ImVec2 max);
void record(Ui& ui, const Item& item, std::string_view path, std::string_view kind,
            std::string_view label = {}, std::string_view value = {}, bool enabled = true);

// Returns the size of one line. Like all functions that draw text, it notes the text, so that the
// fonts get its characters (ui/fonts.h).
ImVec2 text_size(ImFont* font, std::string_view text);
// For text that is drawn by ImGui itself.
void note_text(const ImFont* font, std::string_view text);
// Draws one line; returns its width.
float draw_text(ImDrawList* list, ImFont* font, ImVec2 pos, ImU32 color, std::string_view text);
// Returns the text, cut with "…" before the first number or character beyond `width` pixels.
std::string fitted_text(ImFont* font, float width, std::string_view text);
// Draws one line of fitted_text(); returns true if it was cut.
bool draw_text_fitted(ImDrawList* list, ImFont* font, ImVec2 pos, float width, ImU32 color,
                      std::string_view text);
// The same for the text of a control, which should fit in every language: a cut is noted.
bool draw_control_text(ImDrawList* list, ImFont* font, ImVec2 pos, float width, ImU32 color,
                       std::string_view text);
// Draws wrapped lines, each centred on `middle_top.x`.
void draw_text_centred(ImDrawList* list, ImFont* font, ImVec2 middle_top, float wrap, ImU32 color,
                       std::string_view text);
// Draws the label above a control in caption size; nothing for an empty label.
void control_label(Ui& ui, std::string_view label);

// Moves the value stored under `path` towards `target` within about 150 ms and requests further
// frames. Returns the current value.
float ease(Ui& ui, std::string_view path, float target);
ImU32 mix(ImU32 a, ImU32 b, float share);
// Applies the style's alpha (dimmed cards, disabled parts) to a theme colour.
ImU32 styled(ImU32 color);

// --- tooltips -------------------------------------------------------------------------------
// Once per frame; `changed`: what is below the pointer is new.
void watch_pointer(Ui& ui, bool changed);
// Whether it has not moved since then.
bool pointer_rests(const Ui& ui);
// A text as that of hint(), and what a caller adds to it.
struct Tooltip {
  std::string_view text;
  std::string_view path = "tooltip", label = {};  // as recorded
  float mark = 0;  // pixels free on the left, for what `draw_mark` draws beside the first line
  std::function<void(ImVec2 left_middle)> draw_mark = {};
  std::function<void(std::size_t row, ImVec2 left_middle)> draw_row_mark = {};  // beside each row
};
ImVec2 tooltip_size(const Ui& ui, const Tooltip& tooltip);
// Shows it immediately, at the pointer unless there is a position, and records it.
void show_tooltip(Ui& ui, const Tooltip& tooltip, std::optional<ImVec2> pos = {});

// hint() for a region of the window that is not an item.
void hint_at(Ui& ui, ImVec2 min, ImVec2 max, std::string_view text);

// --- frame shared by text fields and combos -------------------------------------------------
struct Field {
  ImVec2 min, max;
  float width() const { return max.x - min.x; }
};

// Returns the rectangle of the next field at the cursor, across the remaining width.
Field next_field(const Ui& ui);
void draw_field(const Ui& ui, const Field& field, bool hovered, bool active, bool invalid);

// While it exists, an ImGui text field is drawn inside the frame with only its text visible;
// `right` pixels stay free. Afterwards the cursor is below the frame.
class FieldText {
 public:
  FieldText(const Ui& ui, const Field& field, float right);
  ~FieldText();
  FieldText(const FieldText&) = delete;
  FieldText& operator=(const FieldText&) = delete;

 private:
  const Ui& ui_;
  Field field_;
};

}  // namespace lab::ui
