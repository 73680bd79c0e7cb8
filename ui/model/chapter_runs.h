#pragma once
// The trainings of the chapter on several GPUs, as settings of the form.
#include <string>
#include <vector>

#include "ui/model/forms.h"

namespace lab::ui {

// "Own settings", "One GPU: batch 256, lr 0.1", "Two GPUs: batch 512, lr 0.2".
const std::vector<std::string>& chapter_runs();

// Which of them the form holds; 0: none.
int chapter_run_of(const TrainingForm& form, const MachineInfo& machine);

// Fills the form with run `which`, on the devices that this machine has for it. 0 changes nothing.
void fill_chapter_run(int which, const MachineInfo& machine, TrainingForm& form);

// What stands in for the chapter's GPUs here; empty: GPUs do, or `which` is 0.
std::string chapter_stand_in(int which, const MachineInfo& machine);

}  // namespace lab::ui
