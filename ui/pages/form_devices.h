#pragma once
// Splits the cores of the CPU into devices, from every page whose experiment needs several. For use
// inside ui/pages only.
#include <string_view>

#include "ui/pages/panel.h"

namespace lab::ui {

int cpu_devices_now(const Panel& p);

// A button that divides the cores into `devices` devices, or joins them into one: after a
// confirmation the program restarts and opens the same page. Recorded as "<page>/split".
// `label` replaces the usual one.
void split_cpu_button(const Panel& p, std::string_view page, int devices,
                      ButtonKind kind = ButtonKind::Normal, std::string_view label = {});

// The same below a sentence, where a single CPU device has several cores and there is no other
// device; draws nothing elsewhere. `sentence` says what several devices are needed for.
void offer_split(const Panel& p, std::string_view page, std::string_view sentence,
                 ButtonKind kind = ButtonKind::Normal);

}  // namespace lab::ui
