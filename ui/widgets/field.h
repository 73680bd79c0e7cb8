#pragma once
// The frame that text fields and combos share. For use inside ui/.
#include <imgui.h>

#include "ui/ui.h"

namespace lab::ui {

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
