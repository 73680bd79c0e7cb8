#pragma once
#include "ui/pages/panel.h"

namespace lab::ui {

// Runs statements on tensors by name and lists their results.
void statements_card(const Panel& p);

}  // namespace lab::ui
