// Conversion of the Scaling page's form to a command.
#include <algorithm>
#include <string_view>
#include <utility>

#include "compute/core/error.h"
#include "compute/core/events/measured_cases.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/units.h"
#include "ui/model/forms/form_checks.h"
#include "ui/model/forms/forms.h"

namespace lab::ui {
namespace {

constexpr double kMostFixed = 0.999;  // of a measured step

// Parses "1, 2, 4".
std::vector<std::int64_t> parse_device_counts(const std::string& text) {
  try {
    return parse_counts(text);
  } catch (const Error&) {
    throw Error(Errc::Usage, trf("device counts '{}' is not a list; write 1,2,4", text));
  }
}

// Ascending, unique, and at most `devices`; empty: the default counts.
std::vector<int> counts_of(const ScalingForm& form, std::size_t devices) {
  std::vector<int> counts;
  if (form.counts.find_first_not_of(' ') == std::string::npos) return counts;
  for (const std::int64_t count : parse_device_counts(form.counts)) {
    if (static_cast<std::size_t>(count) > devices) {
      throw Error(Errc::Usage, trf("{} devices requested, {} available; request fewer, or split "
                                   "the cores on the Devices page",
                                   count, devices));
    }
    counts.push_back(static_cast<int>(count));
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

// range_fault() of a time in milliseconds, in which the forms and the options have it.
template <typename Value>
std::string fault_in_ms(Value StartScaling::*member, double milliseconds) {
  RequestField field = field_of(member);
  field.scale = 1;
  field.unit = "ms";
  return range_fault(field, milliseconds);
}

// What the process adds, and the fixed part of a time that is not measured.
void set_costs(const ScalingForm& form, StartScaling& command) {
  const bool one_process = command.style == ParallelStyle::DataParallel;
  command.reading_s = one_process ? form.read_ms * 1e-3 : 0;
  command.repeated_s.reset();
  if (one_process && !form.estimate_repeat) command.repeated_s = form.repeat_ms * 1e-3;
  const auto source = static_cast<ComputeTime>(form.compute_time);
  const bool given =
      source == ComputeTime::File || (source == ComputeTime::Typed && command.compute_s);
  if (given) command.fixed_s = form.fixed_ms * 1e-3;
}

// A measurement needs no step time: without one that is right, it predicts nothing.
void set_typed_time(const ScalingForm& form, StartScaling& command) {
  const std::string fault = typed_time_fault(form);
  if (fault.empty()) {
    command.compute_s = form.compute_ms * 1e-3;
  } else if (command.measure) {
    command.predict_devices = 0;
  } else {
    throw Error(Errc::Usage, fault);
  }
}

void set_prediction(const ScalingForm& form, const MeasuredStep& measured, StartScaling& command) {
  const std::string fault = value_error(predicted_devices_field(), command.predict_devices);
  if (!fault.empty()) throw Error(Errc::Usage, fault);
  command.reference_file.clear();
  switch (static_cast<ComputeTime>(form.compute_time)) {
    case ComputeTime::Measured:
      if (command.measure) return;
      if (!measured.seconds) {
        throw Error(Errc::Usage,
                    tr("the first device has not been measured with this model and batch "
                       "yet; measure it first, or enter it"));
      }
      command.compute_s = measured.seconds;
      command.fixed_s = std::min(measured.fixed_s, kMostFixed * *measured.seconds);
      return;
    case ComputeTime::Typed: return set_typed_time(form, command);
    case ComputeTime::File:
      if (form.request.reference_file.empty()) {
        throw Error(Errc::Usage,
                    tr("no reference file is given; enter a JSON file with the time of one device, "
                       "or choose another source"));
      }
      command.reference_file = form.request.reference_file;
      return;
  }
}

}  // namespace

StartScaling default_scaling() {
  StartScaling request;
  request.accuracy_steps = find_model(request.training.model)->accuracy_steps;
  return request;
}

int mode_choice(const StartScaling& request) {
  return request.modes.size() > 1 ? kBothModes : static_cast<int>(request.modes.front());
}

void set_mode_choice(StartScaling& request, int choice) {
  request.modes = {ScalingMode::Strong, ScalingMode::Weak};
  if (choice != kBothModes) request.modes = {static_cast<ScalingMode>(choice)};
}

RequestField predicted_devices_field() {
  RequestField field = field_of(&StartScaling::predict_devices);
  field.range = {2, 4096};
  field.label = LAB_TEXT("Predict up to");
  field.hint = LAB_TEXT("Device counts beyond this machine are calculated, not measured.");
  field.unit = LAB_TEXT("devices");
  field.name = LAB_TEXT("largest prediction");
  return field;
}

std::string typed_time_fault(const ScalingForm& form) {
  if (static_cast<ComputeTime>(form.compute_time) != ComputeTime::Typed) return {};
  std::string fault = fault_in_ms(&StartScaling::compute_s, form.compute_ms);
  if (fault.empty()) fault = fault_in_ms(&StartScaling::fixed_s, form.fixed_ms);
  if (!fault.empty() || form.fixed_ms <= 0 || form.fixed_ms < form.compute_ms) return fault;
  return trf("the fixed part is {}, but the whole step takes {}; enter less",
             format_seconds(form.fixed_ms * 1e-3), format_seconds(form.compute_ms * 1e-3));
}

std::string link_title(std::string_view name) {
  const std::span<const ValueName> links = kLinkNames;
  const std::size_t i = position_of(links, name);
  return i == links.size() ? std::string(name) : tr(links[i].label);
}

std::string usual_link(const MachineInfo& machine) {
  constexpr std::pair<std::string_view, const char*> kGpuLinks[] = {
      {"H100", "nvlink"}, {"H200", "nvlink"}, {"A100", "nvlink3"}, {"V100", "nvlink2"}};
  const auto gpu = std::ranges::find_if(machine.devices,
                                        [](const DeviceInfo& info) { return is_gpu(info.device); });
  if (gpu == machine.devices.end()) return "ethernet10";
  if (gpu->name.find("PCIe") == std::string::npos) {
    for (const auto& [name, link] : kGpuLinks) {
      if (gpu->name.find(name) != std::string::npos) return link;
    }
  }
  return "pcie4";
}

std::vector<Device> scaling_devices(const ScalingForm& form, const MachineInfo& machine) {
  const std::vector<Device> timed = timed_devices(machine);
  std::vector<Device> ticked;
  for (std::size_t i = 0; i < std::min(timed.size(), form.devices.size()); ++i) {
    if (form.devices[i]) ticked.push_back(timed[i]);
  }
  return ticked.empty() ? alike_devices(machine.devices) : ticked;
}

StartScaling to_command(const ScalingForm& form, const MachineInfo& machine, bool measure,
                        const MeasuredStep& measured) {
  StartScaling command = form.request;
  command.training.devices = scaling_devices(form, machine);
  command.measure = measure;
  command.counts = counts_of(form, command.training.devices.size());
  set_prediction(form, measured, command);
  set_costs(form, command);
  check_ranges(command.training);
  check_ranges(command);
  return command;
}

}  // namespace lab::ui
