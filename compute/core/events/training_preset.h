#pragma once
// Presets of the settings of a training.
#include "compute/core/events/command.h"

namespace lab {

// Book: the chapters' settings, the defaults. Fast: reaches a test accuracy of 0.91 on
// Fashion-MNIST soonest, on a CPU too. Accurate: reaches 0.94 soonest on a GPU that computes in
// bf16.
enum class TrainingPreset { Book, Fast, Accurate };
template <>
struct EnumNames<TrainingPreset> {
  static constexpr ValueName kAll[] = {{"book"}, {"fast"}, {"accurate"}};
};

// Sets the model and how it is trained: batch, rate and its course, optimizer, loss, augmentation
// and epochs. Data, devices, kernels, seed and files stay.
void apply_preset(TrainingPreset preset, StartTraining& request);

// Whether two requests agree in all settings of presets.
bool same_settings(const StartTraining& a, const StartTraining& b);
// Whether apply_preset() would change nothing.
bool follows_preset(TrainingPreset preset, const StartTraining& request);

}  // namespace lab
