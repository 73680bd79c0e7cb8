// What this process has taken because of its GPUs, as far as it can be counted.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compute/core/units.h"
#include "ui/pages/memory/memory_parts.h"

namespace lab::ui {
namespace {

constexpr std::array kColumns = {
    Column{"GPU", 0.8F, false, {}},
    Column{"Tensors", 1, true, "And the buffers of a running job."},
    Column{"Pool", 1, true, "What the pool of tensors has taken from the GPU, they included."},
    Column{"Workspaces", 1, true, "What cuBLAS and cublasLt work in on the GPU."},
    Column{"Page-locked", 1, true, "Main memory for copies to and from the GPU."},
    Column{"GPU reports", 1, true, "In use on the GPU, by every program."}};

bool is_gpu(const DeviceInfo& device) {
  return device.device.kind == DeviceKind::Cuda;
}

void bytes_cell(const Panel& p, std::int64_t bytes) {
  cell(p.ui, format_bytes(bytes), fmt::format("{} bytes", bytes));
}

void reported_cell(const Panel& p, const DeviceInfo& device) {
  const GpuRecord* gpu = p.model.gpu(device.pci_bus_id);
  if (gpu == nullptr) {
    cell(p.ui, "N/A", "NVML tells nothing of this GPU.");
  } else if (const auto& used = gpu->history.last.memory_used_bytes) {
    bytes_cell(p, *used);
  } else {
    cell(p.ui, "N/A", used.reason());
  }
}

void gpu_line(const Panel& p, const DeviceInfo& device) {
  const DeviceTelemetry& last = p.model.history(device.device).last;
  table_row(p.ui);
  cell(p.ui, lab::to_string(device.device), device.name);
  for (const std::int64_t bytes : {last.lab_used_bytes, last.lab_pool_bytes,
                                   last.lab_workspace_bytes, last.lab_pinned_bytes}) {
    bytes_cell(p, bytes);
  }
  reported_cell(p, device);
}

}  // namespace

void holdings_card(const Panel& p) {
  const std::vector<DeviceInfo>& devices = p.model.machine().devices;
  if (std::none_of(devices.begin(), devices.end(), is_gpu)) return;
  const Card box(p, "memory/holdings", "Held for the GPUs",
                 {.hint = "Read with every reading of the devices."});
  if (!box || !begin_table(p.ui, "memory/holdings/table", kColumns)) return;
  for (const DeviceInfo& device : devices) {
    if (is_gpu(device)) gpu_line(p, device);
  }
  end_table(p.ui);
  caption(p.ui,
          "CUDA's own context, loaded kernels and what its libraries keep for themselves cannot be "
          "counted; the GPU's report includes them.");
}

}  // namespace lab::ui
