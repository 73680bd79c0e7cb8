#pragma once
// What forms offer and say about the machine's devices: splitting the CPU into several, and which
// devices are left out. For use inside ui/pages only.
#include <cstddef>
#include <string>
#include <string_view>

#include "ui/pages/panel.h"

namespace lab::ui {

int cpu_devices_now(const Panel& p);
// The cores, or hardware threads, of all CPU devices together; 0 if unknown.
std::size_t cpu_cores(const Panel& p);

// How many devices to split the CPU into, where a single CPU device has several cores and there is
// no other device that can be measured; otherwise 0.
int devices_to_split_into(const Panel& p);
std::string split_label(int devices);  // "Split the CPU into 2 devices", "Join the CPU's cores"

// Below a sentence that says what several devices are needed for, a button that divides the cores
// into devices_to_split_into(): after a confirmation the program restarts and opens the same page.
// Recorded as "<page>/split"; draws nothing if that number is 0.
void offer_split(const Panel& p, std::string_view page, std::string_view sentence);

// "emu:0, emu:1: emulated: correct results; never timed": the devices that a measurement leaves
// out; empty if there are none.
std::string untimed_text(const MachineInfo& machine);
// The same as a note of a form, recorded as "<page>/untimed"; draws nothing if it is empty.
void untimed_note(const Panel& p, std::string_view page);

}  // namespace lab::ui
