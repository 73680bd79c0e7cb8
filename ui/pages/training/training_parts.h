#pragma once
// The cards of the Training page. For use inside ui/pages only.
#include <string>
#include <vector>

#include "ui/model/training_run.h"
#include "ui/pages/panel.h"

namespace lab::ui {

void draw_training_form(const Panel& p);

// Parts of the form. The devices and how they share a batch; nothing to choose with one device.
void device_fields(const Panel& p, TrainingForm& form);
// Folded: why doubling batch and rate cost the chapter its accuracy, and what helps.
void draw_larger_batch(const Panel& p, TrainingForm& form);
// The sentence that says why the shares do not fit; empty: they do, or none are needed.
std::string shares_complaint(const TrainingForm& form, const MachineInfo& machine);

// The newest training's plots, kept runs overlaid.
void draw_loss_plot(const Panel& p);
void draw_accuracy_plot(const Panel& p);
void draw_speed_plot(const Panel& p);
void draw_seconds_plot(const Panel& p);

// Where the devices' time goes; nothing for a run on one device.
void draw_training_devices(const Panel& p, const TrainingRun& run);

// Where a step's time goes, layer by layer; how to find out where nobody measured.
void draw_training_layers(const Panel& p, const TrainingRun& run);
bool profile_asked(const TrainingRun& run);
// All numbers of the profile, folded; sorted by pressing a column's label.
void draw_layer_table(const Panel& p, const TrainingProfile& profile);
// Everything known about one row, in lines.
std::string describe(const TrainingProfile& profile, const ProfileRow& row);

void draw_predictions(const Panel& p, const TrainingRun& run);
void draw_confusion(const Panel& p, const TrainingRun& run);

// What is on show of the kept runs, oldest first; the newest always.
struct ShownRun {
  const TrainingRun* run = nullptr;
  std::string name;  // as renamed, with ", synthetic" where it is
  ImU32 color = 0;
  bool newest = false;
};
std::vector<ShownRun> shown_runs(const Panel& p);
std::string run_name(const Panel& p, const TrainingRun& run);
ImU32 run_color(const Panel& p, const TrainingRun& run);

// "Ankle boot", or the number where the classes have no names.
std::string class_name(const TrainingRun& run, int label);

}  // namespace lab::ui
