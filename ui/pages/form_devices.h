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

// How many devices to split the CPU into, where a single CPU device has several cores and there is
// no other device that can be measured; otherwise 0.
int devices_to_split_into(const Panel& p);
std::string split_label(int devices);  // "Split the CPU into 2 devices", "Join the CPU's cores"

// split_cpu_button() below a sentence that says what several devices are needed for; draws nothing
// if devices_to_split_into() is 0.
void offer_split(const Panel& p, std::string_view page, std::string_view sentence);

// "emu:0, emu:1: emulated: right, not fast; never timed": the devices that a measurement leaves
// out; empty if there are none.
std::string untimed_text(const MachineInfo& machine);
// The same as a note of a form, recorded as "<page>/untimed"; draws nothing if it is empty.
void untimed_note(const Panel& p, std::string_view page);

}  // namespace lab::ui
