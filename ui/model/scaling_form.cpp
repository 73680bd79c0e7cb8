// The Scaling page's form as a command.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "ui/model/form_checks.h"
#include "ui/model/forms.h"

namespace lab::ui {
namespace {

constexpr std::array<LinkChoice, 8> kLinks = {{{"pcie3", "PCIe 3.0"},
                                               {"pcie4", "PCIe 4.0"},
                                               {"pcie5", "PCIe 5.0"},
                                               {"nvlink", "NVLink 4"},
                                               {"nvlink2", "NVLink 2"},
                                               {"ethernet10", "10 Gbit Ethernet"},
                                               {"ethernet100", "100 Gbit Ethernet"},
                                               {"infiniband-ndr", "InfiniBand NDR"}}};

std::vector<ScalingMode> modes_of(const ScalingForm& form) {
  constexpr int kWeak = 1, kBoth = 2;
  std::vector<ScalingMode> modes;
  if (form.modes != kWeak) modes.push_back(ScalingMode::Strong);
  if (form.modes == kWeak || form.modes == kBoth) modes.push_back(ScalingMode::Weak);
  return modes;
}

// "1, 2, 4"
std::vector<std::int64_t> parse_device_counts(std::string text) {
  const std::string typed = text;
  std::erase(text, ' ');
  try {
    return parse_counts(text);
  } catch (const Error&) {
    throw Error(Errc::Usage, fmt::format("numbers of devices '{}' is no list; write 1,2,4", typed));
  }
}

// Ascending, each once, and no more than there are devices; none: the usual ones.
std::vector<int> counts_of(const ScalingForm& form, std::size_t devices) {
  std::vector<int> counts;
  if (form.counts.find_first_not_of(' ') == std::string::npos) return counts;
  for (const std::int64_t count : parse_device_counts(form.counts)) {
    if (static_cast<std::size_t>(count) > devices) {
      throw Error(Errc::Usage,
                  fmt::format("number of devices is {} but {} can be used; ask for fewer, or split "
                              "the cores on the Devices page",
                              count, devices));
    }
    counts.push_back(static_cast<int>(count));
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

void set_prediction(const ScalingForm& form, std::optional<double> measured_s,
                    StartScaling& command) {
  constexpr std::int64_t kMostDevices = 4096;
  if (form.predict_devices < 2 || form.predict_devices > kMostDevices) {
    throw Error(Errc::Usage, fmt::format("devices to predict is {}; it must be 2 to {}",
                                         form.predict_devices, kMostDevices));
  }
  command.predict_devices = static_cast<int>(form.predict_devices);
  command.link = kLinks.at(static_cast<std::size_t>(form.link)).name;
  switch (static_cast<ComputeTime>(form.compute_time)) {
    case ComputeTime::Measured:
      if (command.measure) return;
      if (!measured_s) {
        throw Error(Errc::Usage,
                    "the time of the first device with this model and batch has not been measured "
                    "yet; measure first, or type the time in");
      }
      command.compute_s = measured_s;
      return;
    case ComputeTime::Typed:
      command.compute_s = positive(form.compute_ms, "compute time") * 1e-3;
      return;
    case ComputeTime::File:
      if (form.reference_file.empty()) {
        throw Error(Errc::Usage,
                    "no reference file is named; name a JSON file with the time of "
                    "one device, or choose another source");
      }
      command.reference_file = form.reference_file;
      return;
  }
}

}  // namespace

std::int64_t default_accuracy_steps(int model) {
  // The sigmoids of lenet take two epochs before anything moves; a step of resnet18 is long.
  constexpr std::array<std::int64_t, 4> kSteps = {235, 235, 940, 60};
  return kSteps.at(static_cast<std::size_t>(model));
}

std::span<const LinkChoice> scaling_links() {
  return kLinks;
}

std::string link_title(std::string_view name) {
  const auto found = std::find_if(kLinks.begin(), kLinks.end(),
                                  [name](const LinkChoice& link) { return name == link.name; });
  return found == kLinks.end() ? std::string(name) : found->title;
}

std::vector<Device> scaling_devices(const ScalingForm& form, const MachineInfo& machine) {
  std::vector<Device> ticked, all;
  for (std::size_t i = 0; i < machine.devices.size(); ++i) {
    all.push_back(machine.devices[i].device);
    if (i < form.devices.size() && form.devices[i]) ticked.push_back(all.back());
  }
  return ticked.empty() ? all : ticked;
}

StartScaling to_command(const ScalingForm& form, const MachineInfo& machine, bool measure,
                        std::optional<double> measured_s) {
  StartScaling command;
  StartTraining& training = command.training;
  training.model = training_models().at(static_cast<std::size_t>(form.model));
  training.data = static_cast<DataSource>(form.data);
  training.data_dir = form.data_dir;
  training.batch = positive(form.batch, "batch");
  training.devices = scaling_devices(form, machine);
  command.modes = modes_of(form);
  command.measure = measure;
  command.counts = counts_of(form, training.devices.size());
  command.steps = positive(form.steps, "timed steps");
  command.warmup = form.warmup;
  command.rounds = positive(form.rounds, "rounds");
  command.accuracy = form.accuracy;
  command.accuracy_steps = positive(form.accuracy_steps, "steps before the accuracy");
  set_prediction(form, measured_s, command);
  return command;
}

}  // namespace lab::ui
