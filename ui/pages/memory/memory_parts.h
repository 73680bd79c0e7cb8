#pragma once
// Parts of the Memory page. For use inside ui/pages only.
#include "ui/pages/panel.h"

namespace lab::ui {

// What the lab has taken because of each GPU, beside what the GPU reports; nothing where it
// computes on none.
void holdings_card(const Panel& p);

}  // namespace lab::ui
