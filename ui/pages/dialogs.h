#pragma once
// The modal dialogs of the window: help, confirmations, and the choice of a file to save.
#include <cstddef>

#include "ui/pages/lab_view.h"
#include "ui/pages/panel.h"

namespace lab::ui {

bool dialog_open(const ViewState& view);

// Takes the commands that save a file out of the panel's, from position `first` on, and opens the
// dialog that asks for the file before they are sent.
void ask_where_to_save(const Panel& p, std::size_t first);

// Draws the dialog that is open, if any.
void draw_dialogs(const Panel& p);

void dismiss_restart(const Panel& p);

}  // namespace lab::ui
