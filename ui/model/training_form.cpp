// The training that a form asks for.
#include <fmt/format.h>

#include <charconv>

#include "compute/core/events/share_list.h"
#include "ui/model/form_checks.h"
#include "ui/model/forms.h"

namespace lab::ui {
namespace {

bool separates(char c) {
  return c == ',' || c == ' ' || c == ';' || c == '%';
}

void divide_batch(const TrainingForm& form, StartTraining& command) {
  if (command.devices.size() < 2) return;
  command.share_policy = static_cast<SharePolicy>(form.division);
  if (command.share_policy == SharePolicy::Listed) {
    command.shares = parse_shares(form.shares, command.devices.size());
  }
}

}  // namespace

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
      throw Error(Errc::Usage,
                  fmt::format("'{}' is not a list of shares; write numbers: 0.7, 0.3", text));
    }
    shares.push_back(share);
    p = parsed.ptr;
  }
  const std::string fault = fault_in_shares(shares, devices);
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
  StartTraining command;
  command.model = training_models().at(static_cast<std::size_t>(form.model));
  command.data = static_cast<DataSource>(form.data);
  command.data_dir = form.data_dir;
  command.synthetic_train = positive(form.synthetic_train, "number of training images");
  command.synthetic_test = positive(form.synthetic_test, "number of test images");
  command.devices = training_devices(form, machine);
  divide_batch(form, command);
  command.batch = positive(form.batch, "batch");
  command.lr = positive(form.lr, "learning rate");
  command.lr_scale = static_cast<LrScale>(form.lr_scale);
  command.warmup_epochs = form.warmup_epochs;
  command.momentum = form.momentum;
  command.weight_decay = form.weight_decay;
  command.epochs = positive(form.epochs, "epochs");
  command.order = static_cast<BatchOrder>(form.order);
  command.compare_kernels = form.kernels == kBothKernels;
  command.kernels = command.compare_kernels ? Kernels::Lab : static_cast<Kernels>(form.kernels);
  command.dtype = static_cast<Precision>(form.dtype);
  command.profile = form.profile || command.compare_kernels;
  command.seed = static_cast<std::uint64_t>(form.seed);
  command.checkpoint_dir = form.checkpoint_dir;
  command.checkpoint_every = form.checkpoint_dir.empty() ? 0 : form.checkpoint_every;
  command.resume_dir = form.resume_dir;
  return command;
}

}  // namespace lab::ui
