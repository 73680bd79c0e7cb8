#include "ui/model/forms/forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "compute/core/error.h"
#include "compute/core/events/measured_cases.h"
#include "compute/core/events/models.h"
#include "compute/core/events/tensor_code.h"
#include "compute/core/fields/request_fields.h"
#include "compute/core/language.h"
#include "compute/core/printable.h"
#include "compute/core/units.h"
#include "ui/model/forms/form_checks.h"
#include "ui/model/model.h"

namespace lab::ui {
namespace {

// Position 0 stands for every device, which commands represent as an empty list.
std::vector<Device> chosen_device(int position, const MachineInfo& machine) {
  const auto i = static_cast<std::size_t>(position);
  if (position <= 0 || i > machine.devices.size()) return {};
  return {machine.devices[i - 1].device};
}

// The devices that a choice stands for.
std::vector<Device> devices_of(int position, const MachineInfo& machine) {
  std::vector<Device> devices = chosen_device(position, machine);
  if (!devices.empty()) return devices;
  for (const DeviceInfo& info : machine.devices) devices.push_back(info.device);
  return devices;
}

// The first of the chosen pairs between which the operation is measured, of two devices if there is
// one.
std::pair<Device, Device> live_pair(const TransferForm& form, const MachineInfo& machine) {
  const auto op = static_cast<TransferOp>(form.live_op);
  for (const bool within : {false, true}) {
    for (const Device from : devices_of(form.from, machine)) {
      for (const Device to : devices_of(form.to, machine)) {
        if ((from == to) == within && is_measured_between(op, from, to)) return {from, to};
      }
    }
  }
  throw Error(Errc::Usage, trf("live run: {} is not measured between the chosen devices; choose "
                               "copy, or another device",
                               to_string(op)));
}

bool has_gpu(const MachineInfo& machine) {
  return std::any_of(machine.devices.begin(), machine.devices.end(),
                     [](const DeviceInfo& info) { return info.device.kind == DeviceKind::Cuda; });
}

}  // namespace

std::vector<std::int64_t> parse_shape(std::string_view text) {
  const auto refuse = [&] {
    throw Error(Errc::Usage, trf("shape '{}' is not a list of sizes; write 1024,1024", text));
  };
  std::vector<std::int64_t> shape;
  bool separated = true;     // the next number may start here
  bool one_follows = false;  // after a comma or x
  for (const char* p = text.data(); p != text.data() + text.size();) {
    if (*p == ',' || *p == 'x' || *p == ' ' || *p == '[' || *p == ']' || *p == '(' || *p == ')') {
      if (*p == ',' || *p == 'x') {
        if (shape.empty() || one_follows) refuse();
        one_follows = true;
      }
      separated = true;
      ++p;
      continue;
    }
    std::int64_t size = 0;
    const auto parsed = std::from_chars(p, text.data() + text.size(), size);
    if (!separated || parsed.ec != std::errc() || size < 0) refuse();
    shape.push_back(size);
    separated = one_follows = false;
    p = parsed.ptr;
  }
  if (one_follows) refuse();
  return shape;
}

std::string tensor_name(std::string_view text) {
  const std::string_view name = trimmed(text);
  if (!name.empty() && !is_tensor_name(name)) {
    throw Error(Errc::Usage, trf("'{}' cannot be a name; use letters, digits and _, a letter first",
                                 printable(name)));
  }
  return std::string(name);
}

MakeTensor to_command(const MemoryForm& form, const MachineInfo& machine) {
  const auto i = static_cast<std::size_t>(form.device);
  if (form.device < 0 || i >= machine.devices.size()) {
    throw Error(Errc::Usage, tr("the selected device is not available; choose one from the list"));
  }
  MakeTensor command;
  command.device = machine.devices[i].device;
  command.dtype = static_cast<DType>(form.dtype);
  command.fill = static_cast<Fill>(form.fill);
  if (command.fill == Fill::Values) {
    TypedValues typed = parse_typed_values(form.values);
    command.shape = std::move(typed.shape);
    command.values = std::move(typed.values);
  } else {
    command.shape = parse_shape(form.shape);
  }
  command.value = form.value;
  command.seed = static_cast<std::uint64_t>(form.seed);
  command.name = tensor_name(form.name);
  if (is_random(command.fill) && command.dtype != DType::F32 && command.dtype != DType::BF16) {
    throw Error(Errc::Usage, trf("{} needs f32 or bf16, not {}; choose another type",
                                 to_string(command.fill), to_string(command.dtype)));
  }
  return command;
}

bool has_op(const TransferForm& form, TransferOp op) {
  const std::vector<TransferOp>& ops = form.request.ops;
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

void set_op(TransferForm& form, TransferOp op, bool on) {
  std::erase(form.request.ops, op);
  if (on) form.request.ops.push_back(op);
}

std::size_t transfer_ops(const MachineInfo& machine) {
  return has_gpu(machine) ? enum_names<TransferOp>().size() : kCpuTransferOps;
}

std::size_t live_transfer_ops(const MachineInfo& machine) {
  return has_gpu(machine) ? static_cast<std::size_t>(TransferOp::Chase) : kCpuTransferOps;
}

bool has_thread_counts(const MachineInfo& machine) {
  return std::ranges::any_of(machine.devices,
                             [](const DeviceInfo& info) { return info.cores.size() > 1; });
}

std::size_t matmul_precisions(const MachineInfo& machine) {
  return has_gpu(machine) ? 3 : 2;
}

Precision matmul_precision(const MatmulForm& form, const MachineInfo& machine) {
  const bool offered = static_cast<std::size_t>(form.request.dtype) < matmul_precisions(machine);
  return offered ? form.request.dtype : Precision::F32;
}

namespace {

// The largest array that an operation of the command can be measured with; nullopt where a device's
// memory is unknown.
std::optional<std::int64_t> largest_array(const StartTransfers& command,
                                          const MachineInfo& machine) {
  const auto asked = [](const std::vector<Device>& devices, Device device) {
    return devices.empty() || std::ranges::find(devices, device) != devices.end();
  };
  std::int64_t largest = 0;
  for (const DeviceInfo& from : machine.devices) {
    for (const DeviceInfo& to : machine.devices) {
      if (!asked(command.from, from.device) || !asked(command.to, to.device)) continue;
      for (const TransferOp op : command.ops) {
        if (!is_measured_between(op, from.device, to.device)) continue;
        if (from.memory_limit_bytes <= 0 || to.memory_limit_bytes <= 0) return std::nullopt;
        const bool within = from.device == to.device;
        largest =
            std::max(largest, within ? from.memory_limit_bytes / array_count(op)
                                     : std::min(from.memory_limit_bytes, to.memory_limit_bytes));
      }
    }
  }
  return largest > 0 ? std::optional(largest) : std::nullopt;
}

// The usual sizes are accepted on every machine: those that do not fit are skipped with the reason.
void check_sizes_fit(const StartTransfers& command, const MachineInfo& machine) {
  constexpr std::int64_t kUsual = std::int64_t{1} << 30;  // the largest
  const auto most = largest_array(command, machine);
  for (const std::int64_t bytes : command.sizes_bytes) {
    if (!most || bytes <= std::max(*most, kUsual)) continue;
    throw Error(Errc::Usage, trf("an array of {} is too large; arrays of up to {} fit into memory",
                                 format_bytes(bytes), format_bytes(*most)));
  }
}

StartTransfers live_command(const TransferForm& form, const MachineInfo& machine) {
  StartTransfers command = form.request;
  const auto [from, to] = live_pair(form, machine);
  command.from = {from};
  command.to = {to};
  command.quick = false;
  command.ops = {static_cast<TransferOp>(form.live_op)};
  command.all_threads = form.live_all_threads && has_thread_counts(machine);
  command.one_thread = !command.all_threads;
  command.sizes_bytes = parse_byte_sizes(form.live_size);
  if (command.sizes_bytes.size() != 1) {
    throw Error(Errc::Usage, trf("live run: '{}' is not one size; write 1 MiB", form.live_size));
  }
  command.live = true;
  check_ranges(command);
  check_sizes_fit(command, machine);
  return command;
}

}  // namespace

StartTransfers to_command(const TransferForm& form, const MachineInfo& machine, bool live) {
  if (live) return live_command(form, machine);
  StartTransfers command = form.request;
  command.from = chosen_device(form.from, machine);
  command.to = chosen_device(form.to, machine);
  command.ops.clear();
  for (std::size_t i = 0; i < transfer_ops(machine); ++i) {
    const auto op = static_cast<TransferOp>(i);
    if (has_op(form, op)) command.ops.push_back(op);
  }
  if (command.quick) {
    command.ops = {TransferOp::Copy};
    command.budget_s = StartTransfers{}.budget_s;  // no control is shown
  }
  if (command.ops.empty()) {
    throw Error(Errc::Usage, tr("no operation is ticked; tick at least one"));
  }
  if (!has_thread_counts(machine)) command.one_thread = true;  // no choice is offered
  if (!command.one_thread && !command.all_threads) {
    throw Error(Errc::Usage, tr("no thread count is ticked; tick one thread or all threads"));
  }
  if (!command.quick) command.sizes_bytes = parse_byte_sizes(form.sizes);
  check_ranges(command);
  check_sizes_fit(command, machine);
  return command;
}

std::string transfer_sizes_problem(const TransferForm& form, const MachineInfo& machine) {
  StartTransfers command;
  try {
    command.sizes_bytes = parse_byte_sizes(form.sizes);
    command.from = chosen_device(form.from, machine);
    command.to = chosen_device(form.to, machine);
    std::erase_if(command.ops, [&](TransferOp op) { return !has_op(form, op); });
    check_sizes_fit(command, machine);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::vector<Device> timed_devices(const MachineInfo& machine) {
  std::vector<Device> timed;
  for (const DeviceInfo& info : machine.devices) {
    if (is_timed(info.device)) timed.push_back(info.device);
  }
  return timed;
}

Device live_device(const MatmulForm& form, const MachineInfo& machine) {
  const std::vector<Device> timed = timed_devices(machine);
  const bool known = std::ranges::find(timed, form.live_device) != timed.end();
  return known || timed.empty() ? form.live_device : timed.front();
}

namespace {

std::int64_t largest_matmul_size(const std::vector<DeviceInfo>& devices, Precision dtype) {
  constexpr std::int64_t kMost = 1 << 20;
  const std::int64_t operand = dtype == Precision::F32 || dtype == Precision::TF32 ? 4 : 2;
  const auto element = static_cast<double>(2 * operand + 4);  // A and B, and C in f32
  std::int64_t largest = kMost;
  for (const DeviceInfo& info : devices) {
    if (info.memory_limit_bytes <= 0) continue;
    const double n = std::sqrt(static_cast<double>(info.memory_limit_bytes) / element);
    largest = std::min(largest, static_cast<std::int64_t>(n));
  }
  return largest;
}

// The devices that hold the matrices of a command; of a GPU, main memory does too.
std::vector<DeviceInfo> holders_of(const StartMatmul& command, const MachineInfo& machine) {
  std::vector<DeviceInfo> holders;
  for (const DeviceInfo& info : machine.devices) {
    const auto& asked = command.devices;
    const bool wanted = asked.empty() || std::ranges::find(asked, info.device) != asked.end();
    if (wanted && is_timed(info.device)) holders.push_back(info);
  }
  return holders;
}

void check_sizes_fit(const StartMatmul& command, const MachineInfo& machine) {
  const std::int64_t most = largest_matmul_size(holders_of(command, machine), command.dtype);
  for (const std::int64_t n : command.sizes) {
    if (n < 1) throw Error(Errc::Usage, trf("size {} is too small; the smallest is 1", n));
    if (n > most) {
      throw Error(Errc::Usage, trf("size {} is too large; the largest whose three matrices fit "
                                   "into memory is {}",
                                   n, most));
    }
  }
}

}  // namespace

StartMatmul to_command(const MatmulForm& form, const MachineInfo& machine, bool live) {
  StartMatmul command = form.request;
  command.devices =
      live ? std::vector{live_device(form, machine)} : chosen_device(form.device, machine);
  command.sizes = live ? std::vector{form.live_size} : parse_counts(form.sizes);
  constexpr int kBest = 1;
  constexpr int kChosen = 2;
  if (form.which == kBest) command.kernels = {"best"};
  if (form.which == kChosen && !command.together) {
    command.kernels.assign(form.chosen.begin(), form.chosen.end());
    if (command.kernels.empty()) {
      throw Error(Errc::Usage, tr("no kernel is ticked; tick at least one"));
    }
  }
  command.dtype = matmul_precision(form, machine);
  command.live = live;
  if (live) command.together = false;
  if (command.together) {  // the form shows no devices, kernels and types then
    command.devices.clear();
    command.kernels.clear();
    command.dtype = Precision::F32;
    if (alike_devices(machine.devices).size() < 2) {
      throw Error(Errc::Usage, tr("Devices together: this machine has no two devices of one kind; "
                                  "split the CPU on the Devices page"));
    }
  }
  check_ranges(command);
  check_sizes_fit(command, machine);
  return command;
}

std::string matmul_sizes_problem(const MatmulForm& form, const MachineInfo& machine) {
  StartMatmul command = form.request;
  try {
    command.sizes = parse_counts(form.sizes);
    command.devices =
        command.together ? std::vector<Device>() : chosen_device(form.device, machine);
    command.dtype = command.together ? Precision::F32 : matmul_precision(form, machine);
    check_sizes_fit(command, machine);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

namespace {

struct FillForm {
  Forms& forms;

  void operator()(const StartTransfers& c) const { forms.transfers.request.ops = c.ops; }
  void operator()(const StartMatmul& c) const {
    forms.matmul.which = c.kernels == std::vector<std::string>{"best"} ? 1 : 0;
    forms.matmul.sizes = fmt::format("{}", fmt::join(c.sizes, ","));
    forms.matmul.device = 0;
    forms.matmul.tabs.kind = static_cast<int>(kind_of(c));
    forms.matmul.request.together = c.together;
  }
  void operator()(const StartTraining& c) const {
    TrainingForm& form = forms.training;
    form.request.model = c.model;
    form.request.width = c.width;
    form.request.data = c.data;
    form.request.lr = c.lr.value_or(find_model(c.model)->learning_rate);
    form.request.batch = c.batch;
    form.request.epochs = c.epochs;
    form.request.first_layer = c.first_layer;
    form.request.profile = c.profile;
  }
  void operator()(const StartScaling& c) const {
    StartScaling& request = forms.scaling.request;
    request.training.model = c.training.model;
    request.training.batch = c.training.batch;
    request.modes = c.modes;
    request.predict_devices = c.predict_devices;
  }
  void operator()(const RunTensorCode& c) const {
    forms.memory.statement = c.statements.empty() ? "" : c.statements.front().text;
  }
  template <typename WithoutForm>
  void operator()(const WithoutForm&) const {}
};

}  // namespace

void fill_form(Forms& forms, const JobCommand& command) {
  std::visit(FillForm{forms}, command);
}

}  // namespace lab::ui
