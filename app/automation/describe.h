#pragma once
// What is visible, as JSON: for --describe-ui, scripts and tests.
#include <string>

#include "ui/ui.h"

namespace lab::app {

// {"width", "height", "scale", "widgets": [{"path", "kind", "label", "value", "enabled", "x", "y",
// "width", "height"}, ...]}, in pixels of the window.
std::string describe_ui(const ui::Ui& ui, int width, int height);

}  // namespace lab::app
