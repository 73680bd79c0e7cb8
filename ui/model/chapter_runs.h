#pragma once
// The chapter's trainings on several GPUs, as presets of the training form.
#include <string>
#include <vector>

#include "ui/model/forms/forms.h"

namespace lab::ui {

// Names of the presets: "Custom settings", "One GPU: batch 256, lr 0.1", "Two GPUs: batch 512, lr
// 0.2".
const std::vector<std::string>& chapter_runs();

// Index of the preset that the form matches; 0: none.
int chapter_run_of(const TrainingForm& form, const MachineInfo& machine);

// Fills the form with preset `which`, on the devices that this machine has for it. 0 changes
// nothing.
void fill_chapter_run(int which, const MachineInfo& machine, TrainingForm& form);

// What replaces the chapter's GPUs on this machine; empty if GPUs are used or `which` is 0.
std::string chapter_stand_in(int which, const MachineInfo& machine);

}  // namespace lab::ui
