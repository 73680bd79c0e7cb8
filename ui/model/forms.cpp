#include "ui/model/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "compute/core/error.h"
#include "compute/core/units.h"
#include "ui/model/form_checks.h"

namespace lab::ui {
namespace {

// Position 0 stands for every device, which commands spell as an empty list.
std::vector<Device> chosen_device(int position, const MachineInfo& machine) {
  const auto i = static_cast<std::size_t>(position);
  if (position <= 0 || i > machine.devices.size()) return {};
  return {machine.devices[i - 1].device};
}

bool has_gpu(const MachineInfo& machine) {
  return std::any_of(machine.devices.begin(), machine.devices.end(),
                     [](const DeviceInfo& info) { return info.device.kind == DeviceKind::Cuda; });
}

}  // namespace

const std::vector<std::string>& training_models() {
  static const std::vector<std::string> kModels = {"softmax", "mlp", "lenet", "resnet18"};
  return kModels;
}

double default_lr(int model) {
  constexpr int kLenet = 2;
  return model == kLenet ? 0.9 : 0.1;
}

std::vector<std::int64_t> parse_shape(std::string_view text) {
  std::vector<std::int64_t> shape;
  bool separated = true;  // the next number may start here
  for (const char* p = text.data(); p != text.data() + text.size();) {
    if (*p == ',' || *p == 'x' || *p == ' ' || *p == '[' || *p == ']' || *p == '(' || *p == ')') {
      separated = true;
      ++p;
      continue;
    }
    std::int64_t size = 0;
    const auto parsed = std::from_chars(p, text.data() + text.size(), size);
    if (!separated || parsed.ec != std::errc() || size < 0) {
      throw Error(Errc::Usage,
                  fmt::format("shape '{}' is not a list of sizes; write 1024,1024", text));
    }
    shape.push_back(size);
    separated = false;
    p = parsed.ptr;
  }
  return shape;
}

MakeTensor to_command(const MemoryForm& form, const MachineInfo& machine) {
  const auto i = static_cast<std::size_t>(form.device);
  if (form.device < 0 || i >= machine.devices.size()) {
    throw Error(Errc::Usage, "the device chosen is not there; choose one of the list");
  }
  MakeTensor command;
  command.device = machine.devices[i].device;
  command.shape = parse_shape(form.shape);
  command.dtype = static_cast<DType>(form.dtype);
  command.fill = static_cast<Fill>(form.fill);
  command.value = form.value;
  command.seed = static_cast<std::uint64_t>(form.seed);
  command.name = form.name;
  const bool random = command.fill == Fill::Rand || command.fill == Fill::Randn;
  if (random && command.dtype != DType::F32 && command.dtype != DType::BF16) {
    throw Error(Errc::Usage, fmt::format("{} needs f32 or bf16, not {}; choose another type",
                                         to_string(command.fill), to_string(command.dtype)));
  }
  return command;
}

std::size_t transfer_ops(const MachineInfo& machine) {
  return has_gpu(machine) ? TransferForm{}.ops.size() : kCpuTransferOps;
}

std::size_t matmul_precisions(const MachineInfo& machine) {
  return has_gpu(machine) ? 3 : 2;
}

Precision matmul_precision(const MatmulForm& form, const MachineInfo& machine) {
  const bool offered = form.dtype < static_cast<int>(matmul_precisions(machine));
  return offered ? static_cast<Precision>(form.dtype) : Precision::F32;
}

StartTransfers to_command(const TransferForm& form, const MachineInfo& machine, bool live) {
  StartTransfers command;
  command.from = chosen_device(form.from, machine);
  command.to = chosen_device(form.to, machine);
  command.ops.clear();
  const std::size_t ops = transfer_ops(machine);
  for (std::size_t i = 0; i < ops; ++i) {
    if (form.ops[i]) command.ops.push_back(static_cast<TransferOp>(i));
  }
  if (command.ops.empty()) throw Error(Errc::Usage, "no operation is ticked; tick at least one");
  if (!form.one_thread && !form.all_threads) {
    throw Error(Errc::Usage, "no thread count is ticked; tick one thread or all threads");
  }
  command.one_thread = form.one_thread;
  command.all_threads = form.all_threads;
  command.sizes_bytes = parse_byte_sizes(form.sizes);
  command.cache = static_cast<CacheState>(form.cache);
  command.budget_s = positive(form.budget_s, "time for one case");
  command.live = live;
  return command;
}

StartMatmul to_command(const MatmulForm& form, const MachineInfo& machine, bool live) {
  StartMatmul command;
  command.devices = chosen_device(form.device, machine);
  command.sizes = parse_counts(form.sizes);
  constexpr int kBest = 1;
  constexpr int kChosen = 2;
  if (form.which == kBest) command.kernels = {"best"};
  if (form.which == kChosen) {
    command.kernels.assign(form.chosen.begin(), form.chosen.end());
    if (command.kernels.empty()) {
      throw Error(Errc::Usage, "no kernel is ticked; tick at least one");
    }
  }
  command.dtype = matmul_precision(form, machine);
  command.cache = static_cast<CacheState>(form.cache);
  command.budget_s = positive(form.budget_s, "time for one kernel");
  command.seed = static_cast<std::uint64_t>(form.seed);
  command.live = live;
  return command;
}

}  // namespace lab::ui
