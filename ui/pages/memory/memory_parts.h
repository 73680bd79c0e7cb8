#pragma once
#include <string>

#include "ui/pages/panel.h"

namespace lab::ui {

// "Busy: Transfer sweep" while a job of another page keeps the controls from being used; empty
// otherwise, also while the page's own short jobs run.
std::string busy_elsewhere(const Panel& p);

// Runs statements on tensors by name and lists their results.
void statements_card(const Panel& p);

}  // namespace lab::ui
