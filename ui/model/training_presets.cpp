#include "ui/model/training_presets.h"

#include <array>

#include "compute/core/events/training_preset.h"
#include "compute/core/language.h"

namespace lab::ui {
namespace {

constexpr const char* kModel = "resnet18";
constexpr std::int64_t kEpochs = 10;

struct ChapterRun {
  std::size_t gpus;
  std::int64_t batch;
  double lr;
};
constexpr std::array<ChapterRun, 2> kRuns = {{{1, 256, 0.1}, {2, 512, 0.2}}};
constexpr int kFast = static_cast<int>(kRuns.size()) + 1;
constexpr int kAccurate = kFast + 1;
constexpr int kBook = kAccurate + 1;

// The chapter's settings, with those of the run.
void set_run(const ChapterRun& run, StartTraining& request) {
  apply_preset(TrainingPreset::Book, request);
  request.model = kModel;
  request.data = DataSource::FashionMnist;
  request.batch = run.batch;
  request.lr = run.lr;
  request.epochs = kEpochs;
}

const ChapterRun* run_at(int which) {
  const auto i = static_cast<std::size_t>(which);
  return which > 0 && i <= kRuns.size() ? &kRuns[i - 1] : nullptr;
}

// Positions of the first `count` devices of one kind, GPUs before CPUs; fewer if no kind has
// `count` devices.
std::vector<std::size_t> devices_for(std::size_t count, const MachineInfo& machine) {
  for (; count > 0; --count) {
    for (const DeviceKind kind : {DeviceKind::Cuda, DeviceKind::Cpu}) {
      std::vector<std::size_t> found;
      for (std::size_t i = 0; i < machine.devices.size() && found.size() < count; ++i) {
        if (machine.devices[i].device.kind == kind) found.push_back(i);
      }
      if (found.size() == count) return found;
    }
  }
  return {};
}

bool holds(const TrainingForm& form, const ChapterRun& run, const MachineInfo& machine) {
  StartTraining r = form.request;
  set_run(run, r);
  if (!same_settings(r, form.request) || r.data != form.request.data) return false;
  std::vector<Device> devices;
  for (const std::size_t i : devices_for(run.gpus, machine)) {
    devices.push_back(machine.devices[i].device);
  }
  return training_devices(form, machine) == devices;
}

}  // namespace

const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> kNames = {LAB_TEXT("Custom settings"),
                                                  LAB_TEXT("One GPU: batch 256, lr 0.1"),
                                                  LAB_TEXT("Two GPUs: batch 512, lr 0.2"),
                                                  LAB_TEXT("Fast: 0.91 in seconds"),
                                                  LAB_TEXT("Accurate: 0.94 with ResNet-18"),
                                                  LAB_TEXT("LeNet: batch 256, lr 0.9")};
  return kNames;
}

void fill_preset(int which, const MachineInfo& machine, TrainingForm& form) {
  if (which == kFast || which == kAccurate) {
    apply_preset(which == kFast ? TrainingPreset::Fast : TrainingPreset::Accurate, form.request);
    form.request.data = DataSource::FashionMnist;
  }
  if (which == kBook) {
    const StartTraining usual;
    apply_preset(TrainingPreset::Book, form.request);
    form.request.data = usual.data;
    form.request.synthetic_train = usual.synthetic_train;
    form.request.synthetic_test = usual.synthetic_test;
  }
  const ChapterRun* run = run_at(which);
  if (run == nullptr) return;
  set_run(*run, form.request);
  form.devices.assign(machine.devices.size(), false);
  for (const std::size_t i : devices_for(run->gpus, machine)) form.devices[i] = true;
}

int preset_of(const TrainingForm& form, const MachineInfo& machine) {
  for (int which = 1; run_at(which) != nullptr; ++which) {
    if (holds(form, *run_at(which), machine)) return which;
  }
  const StartTraining usual, &r = form.request;
  if (r.data == DataSource::FashionMnist) {
    if (follows_preset(TrainingPreset::Fast, r)) return kFast;
    if (follows_preset(TrainingPreset::Accurate, r)) return kAccurate;
  }
  const bool usual_data =
      r.data == DataSource::FashionMnist ||
      (r.synthetic_train == usual.synthetic_train && r.synthetic_test == usual.synthetic_test);
  return follows_preset(TrainingPreset::Book, r) && usual_data ? kBook : 0;
}

std::string preset_stand_in(int which, const MachineInfo& machine) {
  const ChapterRun* run = run_at(which);
  if (run == nullptr) return {};
  const std::vector<std::size_t> chosen = devices_for(run->gpus, machine);
  if (chosen.empty()) return {};
  const Device first = machine.devices[chosen.front()].device;
  if (chosen.size() < run->gpus) {
    return trf("{} alone stands in for the {} GPUs", to_string(first), run->gpus);
  }
  if (first.kind == DeviceKind::Cuda) return {};
  if (chosen.size() == 1) return trf("{} stands in for the GPU", to_string(first));
  return trf("{} and {} stand in for the GPUs", to_string(first),
             to_string(machine.devices[chosen.back()].device));
}

}  // namespace lab::ui
