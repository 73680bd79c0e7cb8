#include "compute/core/events/training_preset.h"

#include "compute/core/events/models.h"

namespace lab {
namespace {

// tests/bench/RESULTS.md shows what it reaches.
StartTraining fast_training() {
  StartTraining fast;
  fast.model = "convnet";
  fast.batch = 64;
  fast.lr = 0.06;
  fast.momentum = 0.9;
  fast.weight_decay = 5e-4;
  fast.epochs = 1;
  fast.warmup_epochs = 0.2;
  fast.schedule = LrSchedule::Linear;
  fast.label_smoothing = 0.1;
  fast.first_layer = FirstLayer::Whitened;
  return fast;
}

// tests/gpu/RESULTS.md shows what it reaches.
StartTraining accurate_training() {
  StartTraining accurate = fast_training();
  accurate.model = "resnet18";
  accurate.batch = 256;
  accurate.lr = 0.05;
  accurate.epochs = 6;
  accurate.warmup_epochs = 1;
  accurate.augment = Augmentation::Flip;
  accurate.first_layer = FirstLayer::Drawn;
  return accurate;
}

StartTraining book_training() {
  StartTraining book;
  book.lr = find_model(book.model)->learning_rate;
  return book;
}

StartTraining settings_of(TrainingPreset preset) {
  switch (preset) {
    case TrainingPreset::Fast: return fast_training();
    case TrainingPreset::Accurate: return accurate_training();
    case TrainingPreset::Book: break;
  }
  return book_training();
}

// Calls visit(member) for each setting of a preset.
template <typename Visit>
void for_each_setting(const Visit& visit) {
  visit(&StartTraining::model);
  visit(&StartTraining::width);
  visit(&StartTraining::batch);
  visit(&StartTraining::lr);
  visit(&StartTraining::momentum);
  visit(&StartTraining::weight_decay);
  visit(&StartTraining::epochs);
  visit(&StartTraining::lr_scale);
  visit(&StartTraining::warmup_epochs);
  visit(&StartTraining::schedule);
  visit(&StartTraining::label_smoothing);
  visit(&StartTraining::augment);
  visit(&StartTraining::first_layer);
}

}  // namespace

void apply_preset(TrainingPreset preset, StartTraining& request) {
  const StartTraining from = settings_of(preset);
  for_each_setting([&](auto member) { request.*member = from.*member; });
}

bool same_settings(const StartTraining& a, const StartTraining& b) {
  bool same = true;
  for_each_setting([&](auto member) { same = same && a.*member == b.*member; });
  return same;
}

bool follows_preset(TrainingPreset preset, const StartTraining& request) {
  return same_settings(settings_of(preset), request);
}

}  // namespace lab
