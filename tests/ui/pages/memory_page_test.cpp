// The Memory page's table of memory held on GPUs.
#include <gtest/gtest.h>

#include "tests/support/sample_gpus.h"
#include "tests/ui/pages/scenes.h"

namespace lab::test {
namespace {

using ui::Model;
using ui::Page;

const std::string kHoldings = "memory/holdings";

// A machine with one GPU; `nvml` adds NVML's facts and readings.
Model with_holdings(bool nvml) {
  MachineInfo machine = machine_of(1);
  DeviceInfo info;
  info.device = gpu();
  info.name = "NVIDIA H200";
  info.pci_bus_id = kGpuAddress;
  machine.devices.push_back(info);
  Model model(machine);
  Telemetry all = telemetry({cpu(), gpu()}, 1, 0.3);
  DeviceTelemetry& held = all.devices.at(1);
  held.lab_used_bytes = 12 * kMiB;
  held.lab_pool_bytes = 32 * kMiB;
  held.lab_workspace_bytes = 64 * kMiB;
  held.lab_pinned_bytes = 8 * kMiB;
  if (nvml) {
    all.gpu_facts = {gpu_facts()};
    all.gpus = {gpu_reading(1)};
  }
  model.apply(event(0, 1, all));
  return model;
}

// Text of the first row of the holdings table, or "none".
std::string line(Model model) {
  Lab lab(std::move(model), 1, {1280, 1000});
  lab.open(Page::Memory);
  const ui::WidgetRect* first = lab.backend.find(kHoldings + "/table/0");
  return first == nullptr ? "none" : first->value;
}

TEST(MemoryPage, ListsTheMemoryOfAGpu) {
  EXPECT_EQ(line(with_holdings(true)), "cuda:0\t12.0 MiB\t32.0 MiB\t64.0 MiB\t8.00 MiB\t39.0 GiB");
  EXPECT_EQ(line(with_holdings(false)), "cuda:0\t12.0 MiB\t32.0 MiB\t64.0 MiB\t8.00 MiB\tN/A");
}

TEST(MemoryPage, HidesGpuMemoryWithoutAGpu) {
  Lab lab(Model(machine_of(2)));
  lab.open(Page::Memory);
  EXPECT_FALSE(lab.visible(kHoldings));
}

}  // namespace
}  // namespace lab::test
