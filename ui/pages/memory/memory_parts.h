#pragma once
#include <string>
#include <string_view>

#include "ui/pages/panel.h"

namespace lab::ui {

// "Busy: Transfer sweep" while a job of another page keeps the controls from being used; empty
// otherwise, also while the page's own short jobs run.
std::string busy_elsewhere(const Panel& p);

// Whether a variable of the page has this name, as one of its names.
bool has_tensor_named(const Panel& p, std::string_view name);

// Units by which the cards of the statements and of the plot are higher than in a low window.
float statements_growth(const Panel& p);

// Runs statements on tensors by name and lists their results.
void statements_card(const Panel& p);

}  // namespace lab::ui
