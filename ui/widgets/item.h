#pragma once
// What the controls share: a keyboard-reachable button behaviour, focus ring, text fitted into a
// width, and easing. For use inside ui/ only; panels use widgets.h.
#include <imgui.h>

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

// Lays out a control of this size at the cursor, identified by its path. `enabled` false: cannot
// be pressed, keeps its place.
Item control(std::string_view path, ImVec2 size, bool enabled = true);
// The same at a fixed place that is part of another control; takes no layout space. `nav` false:
// the keyboard skips it (the surrounding control has a key for it).
Item control_at(std::string_view path, ImVec2 min, ImVec2 max, bool enabled = true,
                bool nav = true);

// A ring around the item while the keyboard is on it.
void focus_ring(const Ui& ui, const Item& item, float radius);

// Records `min..max`, clipped to the window's clip rectangle; nothing when all of it is hidden.
void record_rect(Ui& ui, std::string_view path, std::string_view kind, std::string_view label,
                 std::string_view value, bool enabled, ImVec2 min, ImVec2 max);
void record(Ui& ui, const Item& item, std::string_view path, std::string_view kind,
            std::string_view label = {}, std::string_view value = {}, bool enabled = true);

ImVec2 text_size(ImFont* font, std::string_view text);
// Draws one line; returns its width.
float draw_text(ImDrawList* list, ImFont* font, ImVec2 pos, ImU32 color, std::string_view text);
// One line cut with "…" when it is wider than `width`; true when it was cut.
bool draw_text_fitted(ImDrawList* list, ImFont* font, ImVec2 pos, float width, ImU32 color,
                      std::string_view text);
// Wrapped lines, each centred on `middle_top.x`; returns the height.
float draw_text_centred(ImDrawList* list, ImFont* font, ImVec2 middle_top, float wrap, ImU32 color,
                        std::string_view text);
// The label above a control, in caption size; nothing for an empty label.
void control_label(Ui& ui, std::string_view label);

// Moves the value kept under `path` to `target` within about 150 ms and asks for further frames.
float ease(Ui& ui, std::string_view path, float target);
ImU32 mix(ImU32 a, ImU32 b, float share);
// Applies the style's alpha (dimmed cards, disabled parts) to a colour of the theme.
ImU32 styled(ImU32 color);

// --- tooltips -------------------------------------------------------------------------------
// Shows the text at the pointer now and records it as the widget "tooltip".
void show_tooltip(Ui& ui, std::string_view text);

// hint() for a part of the window that is no item.
void hint_at(Ui& ui, ImVec2 min, ImVec2 max, std::string_view text);

// --- the frame that text fields and combos share --------------------------------------------
struct Field {
  ImVec2 min, max;
  float width() const { return max.x - min.x; }
};

// The rectangle of the next field at the cursor, over the width that is left.
Field next_field(const Ui& ui);
void draw_field(const Ui& ui, const Field& field, bool hovered, bool active, bool invalid);

// Runs `edit` (an ImGui text field) inside the frame with `right` pixels kept free, invisible
// except for its text. The cursor ends below the frame.
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
