#pragma once
// Presets of the training form: the chapter's trainings on several GPUs, those that reach
// an accuracy soonest, and LeNet with the chapters' settings, the default.
#include <string>
#include <vector>

#include "ui/model/forms/forms.h"

namespace lab::ui {

// Names of the presets: "Custom settings", "One GPU: batch 256, lr 0.1", "Two GPUs: batch 512, lr
// 0.2", "Fast: 0.91 in seconds", "Accurate: 0.94 with ResNet-18", "LeNet: batch 256, lr 0.9".
const std::vector<std::string>& preset_names();

// Index of the preset that the form matches; 0: none. LeNet's may train on either data set.
int preset_of(const TrainingForm& form, const MachineInfo& machine);

// Fills the form with preset `which`, on Fashion-MNIST except for LeNet, which has the usual
// synthetic data; the chapter's runs also choose the devices that this machine has for them. 0
// changes nothing.
void fill_preset(int which, const MachineInfo& machine, TrainingForm& form);

// What replaces the chapter's GPUs on this machine; empty if GPUs are used or `which` needs none.
std::string preset_stand_in(int which, const MachineInfo& machine);

}  // namespace lab::ui
