// Conversion of the Training page's form to a command.
#include <algorithm>
#include <charconv>

#include "compute/core/events/models.h"
#include "compute/core/events/share_list.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "ui/model/forms/form_checks.h"
#include "ui/model/forms/forms.h"

namespace lab::ui {
namespace {

bool separates(char c) {
  return c == ',' || c == ' ' || c == ';' || c == '%';
}

void divide_batch(const TrainingForm& form, StartTraining& command) {
  if (command.devices.size() < 2) command.share_policy = SharePolicy::Equal;
  if (command.share_policy == SharePolicy::Listed) {
    command.shares = parse_shares(form.shares, command.devices.size());
  }
}

}  // namespace

StartTraining default_training() {
  StartTraining request;
  request.lr = find_model(request.model)->learning_rate;
  request.insight = true;
  return request;
}

int kernel_choice(const StartTraining& request) {
  return request.compare_kernels ? kBothKernels : static_cast<int>(request.kernels);
}

void set_kernel_choice(StartTraining& request, int choice) {
  request.compare_kernels = choice == kBothKernels;
  request.kernels = request.compare_kernels ? Kernels::Lab : static_cast<Kernels>(choice);
}

std::vector<double> parse_shares(std::string_view text, std::size_t devices) {
  std::vector<double> shares;
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p != end;) {
    if (separates(*p)) {
      ++p;
      continue;
    }
    double share = 0;
    const auto parsed = std::from_chars(p, end, share);
    const bool whole = parsed.ptr == end || (parsed.ptr != p && separates(*parsed.ptr));
    if (parsed.ec != std::errc() || !whole) {
      throw Error(Errc::Usage, trf("'{}' is not a list of shares; write numbers: 0.7, 0.3", text));
    }
    shares.push_back(share);
    p = parsed.ptr;
  }
  const std::string fault = validate_shares(shares, devices);
  if (!fault.empty()) throw Error(Errc::Usage, fault);
  return shares;
}

std::vector<Device> training_devices(const TrainingForm& form, const MachineInfo& machine) {
  std::vector<Device> devices;
  for (std::size_t i = 0; i < machine.devices.size() && i < form.devices.size(); ++i) {
    if (form.devices[i]) devices.push_back(machine.devices[i].device);
  }
  if (devices.empty() && !machine.devices.empty()) {
    devices.push_back(machine.devices.front().device);
  }
  return devices;
}

StartTraining to_command(const TrainingForm& form, const MachineInfo& machine) {
  StartTraining command = form.request;
  command.devices = training_devices(form, machine);
  divide_batch(form, command);
  check_ranges(command);
  if (!command.init_file.empty() && !command.resume_dir.empty()) {
    throw Error(
        Errc::Usage,
        tr("A checkpoint to resume from holds its own weights; clear \"Initial weights\" or "
           "\"Resume from\""));
  }
  const bool whitened = command.first_layer == FirstLayer::Whitened;
  if (whitened && !find_model(command.model)->begins_with_convolution) {
    throw Error(Errc::Usage,
                trf("{} does not begin with a convolution; set \"{}\" to \"{}\"",
                    model_title(command.model), tr(field_of(&StartTraining::first_layer).label),
                    tr(enum_names<FirstLayer>().front().label)));
  }
  const auto cpu_device = std::ranges::find_if_not(command.devices, is_gpu);
  if (command.dtype == Precision::TF32 && cpu_device != command.devices.end()) {
    throw Error(Errc::Usage, trf("{} does not compute in tf32; choose f32 or bf16",
                                 lab::to_string(*cpu_device)));
  }
  command.profile = command.profile || command.compare_kernels;
  if (command.checkpoint_dir.empty()) command.checkpoint_every = 0;
  return command;
}

ChangeTraining changes_of(const TrainingForm& form, const MachineInfo& machine) {
  const StartTraining request = to_command(form, machine);
  ChangeTraining change;
  if (form.edits.lr) change.lr = request.lr;
  if (form.edits.epochs) change.epochs = request.epochs;
  if (form.edits.shares) {
    change.share_policy = request.share_policy;
    change.shares = request.shares;
  }
  return change;
}

}  // namespace lab::ui
