#pragma once
// The look of a tooltip. For use inside ui/; panels call hint() of widgets.h.
#include <imgui.h>

#include <string_view>

#include "ui/ui.h"

namespace lab::ui {

// Shows the text at the pointer now and records it as the widget "tooltip".
void show_tooltip(Ui& ui, std::string_view text);

// hint() for a part of the window that is no item.
void hint_at(Ui& ui, ImVec2 min, ImVec2 max, std::string_view text);

}  // namespace lab::ui
