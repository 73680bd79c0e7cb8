#pragma once
// What forms offer and say about the machine's devices: splitting the CPU into several, and which
// devices are left out. For use inside ui/pages only.
#include <string>
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
// device that can be measured; draws nothing elsewhere. `sentence` says what several devices are
// needed for.
void offer_split(const Panel& p, std::string_view page, std::string_view sentence,
                 ButtonKind kind = ButtonKind::Normal);

// "emu:0, emu:1: emulated: right, not fast; never timed": the devices that a measurement leaves
// out; empty if there are none.
std::string untimed_text(const MachineInfo& machine);
// The same as a note of a form, recorded as "<page>/untimed"; draws nothing if it is empty.
void untimed_note(const Panel& p, std::string_view page);

}  // namespace lab::ui
