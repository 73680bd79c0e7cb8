#pragma once
// The cards of the Training page. For use inside ui/pages only.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ui/model/training_run.h"
#include "ui/pages/panel.h"
#include "ui/pages/step_parts.h"
#include "ui/plot/plot.h"

namespace lab::ui {

void draw_training_form(const Panel& p);

// The newest run that is not deleted, which the page is about; null if there is none.
const TrainingRun* newest_run(const Panel& p);
// The run of the training in progress; null if there is none, as while a probe measures the speed.
const TrainingRun* running_training(const Panel& p);

// Stands in the card `path` for what a restored run has not kept.
void draw_not_kept(const Panel& p, const std::string& path);

// Returns why most fields cannot be changed now; empty if they can.
std::string lock_reason(const Panel& p);
// The same for the fields that a running training takes over: learning rate, epochs and shares.
std::string live_lock_reason(const Panel& p);
// Below such fields of a folded form while a training runs: says that it takes over a change, as
// the title of the other form does. Nothing if they are locked.
void draw_live_note(const Panel& p, const char* path);

// A part of the form: the devices and how they share a batch. Shows no choice for a single device.
void device_fields(const Panel& p, TrainingForm& form);
// Whether the form asks for Fashion-MNIST, which the default folders do not hold.
bool data_missing(const Panel& p);
// The form's command; throws lab::Error, also if the data are missing.
StartTraining training_command(const Panel& p);
// Says how long the form's training will take; empty if nothing is known.
std::string estimate_sentence(const Panel& p);
bool takes_very_long(const Panel& p);  // so that shortening it is the main button
// Beside the Train button: how long the training will take, and what would fit into two minutes.
void draw_training_estimate(const Panel& p, TrainingForm& form);
// Whether the settings of draw_larger_batch() change the learning rate.
bool scales_larger_batch(const TrainingForm& form);
// Collapsed: why doubling batch and rate reduced the chapter's accuracy, and what helps.
void draw_larger_batch(const Panel& p, TrainingForm& form);
// Returns why the shares are invalid; empty if they are valid or not needed.
std::string shares_problem(const TrainingForm& form, const MachineInfo& machine);

// Plots of the newest training run, with the kept runs overlaid.
void draw_loss_plot(const Panel& p);
void draw_accuracy_plot(const Panel& p, const TrainingRun& newest);
void draw_speed_plot(const Panel& p, const TrainingRun& newest);
void draw_seconds_plot(const Panel& p, const TrainingRun& newest);

// "cpu:0", or "rank 1 · cpu:0" if there are several ranks.
std::string device_text(const DeviceTracks& tracks, const DeviceTrack& track);

// Shows where the devices' time goes; draws nothing for a run on one device.
void draw_training_devices(const Panel& p, const TrainingRun& run);

// Shows where a step's time goes, layer by layer; without a profile, how to obtain one.
void draw_training_layers(const Panel& p, const TrainingRun& run);
bool profile_requested(const TrainingRun& run);
const char* name_of(StepPhase phase);  // "forward"
std::vector<Swatch> layers_legend(const Theme& theme, const TrainingProfile& profile);
std::string title_of(const ProfileRow& row);
// What the median step takes beyond the medians of its parts, and what that is.
double other_s(const ProfileTotal& total, const std::vector<ProfileLayer>& layers,
               std::size_t side);
const char* other_hint();
// All numbers of the profile, collapsed; clicking a column label sorts by it.
void draw_layer_table(const Panel& p, const TrainingProfile& profile);
// Describes one row in full, line by line.
std::string describe(const TrainingProfile& profile, const ProfileRow& row);

// Shows when each layer ran in one step, on every device; without a timeline, how to obtain one.
void draw_training_timeline(const Panel& p, const TrainingRun& run);

// Shows images of the current batch and the weights of the first layer.
void draw_training_insight(const Panel& p, const TrainingRun& run);
// Draws sixteen grey levels, line by line, `step` pixels of the screen for each of the picture.
// Adjacent pixels of one level in a line become one rectangle; black pixels become none.
void draw_grey(std::span<const std::uint8_t> pixels, int columns, ImVec2 pos, float step);

// "Most confused: shirt is mistaken for pullover in 39 of 100 images."; empty before an evaluation,
// and for a network that hardly confuses anything.
std::string confusion_sentence(const TrainingRun& run);
void draw_predictions(const Panel& p, const TrainingRun& run);
void draw_confusion(const Panel& p, const TrainingRun& run);

// A kept run that is shown. The list is ordered oldest first; the newest run is in it unless the
// user has hidden or deleted it.
struct ShownRun {
  const TrainingRun* run = nullptr;
  std::string name;  // as renamed, with ", synthetic" if applicable
  ImU32 color = 0;
  bool newest = false;
  // An earlier shown run with the same losses, as far as both go; its curves lie below. Null: none.
  const TrainingRun* below = nullptr;
};
std::vector<ShownRun> shown_runs(const Panel& p);
// Draws the list of runs; 0: as high as its content.
void draw_training_runs(const Panel& p, float height);
// The loss of each step, averaged as the slider says.
const Column64& smoothed_loss(const Panel& p, const TrainingRun& run);
double highest_smoothed_loss(const Panel& p, const TrainingRun& run);  // NaN before the first step
inline constexpr double kMostSmoothing = 0.99;
std::string loss_text(double loss);          // "0.523", "16,412"
std::string accuracy_text(double accuracy);  // "91.5 %", "N/A"
std::string run_name(const Panel& p, const TrainingRun& run);
ImU32 run_color(const Panel& p, const TrainingRun& run);
// Runs of one colour differ in their dashes.
plot::Line run_line(const TrainingRun& run);

// "Ankle boot", or the number if the classes have no names.
std::string class_name(const TrainingRun& run, int label);

}  // namespace lab::ui
