#pragma once
// Parts of the Devices page. For use inside ui/pages only.
#include <string>
#include <vector>

#include "ui/pages/panel.h"
#include "ui/plot/plot.h"

namespace lab::ui {

// An entry of the list: a compute device, an NVIDIA GPU, with or without a compute device on it, or
// the reason why there is none.
struct DeviceEntry {
  std::string key;                   // "cpu:0", "gpu/0000:01:00.0", "absent/0"
  const DeviceInfo* info = nullptr;  // null if the lab does not compute on it
  const GpuRecord* gpu = nullptr;    // null without NVML
  const AbsentDevice* absent = nullptr;
  std::string name = {};  // "cpu:0", "GPU 1"
  std::string what = {};  // "AMD EPYC 9654 96-Core Processor"
  ImU32 color = 0;
  plot::Line line = plot::Line::Solid;  // of its curves

  const Curves& curves(const Model& model) const;
};

// All entries, in the order of the list.
std::vector<DeviceEntry> device_entries(const Panel& p);
// The entry that the page shows in detail.
const DeviceEntry& selected_entry(const Panel& p, const std::vector<DeviceEntry>& entries);

// Left: the devices with their load, the main memory, and the machine.
void device_list(const Panel& p, const std::vector<DeviceEntry>& entries);

// Draws the chart of the chosen quantity over the last minutes, at most ten.
void device_chart(const Panel& p, const std::vector<DeviceEntry>& entries);

// Draws an NVIDIA GPU: its activity beside its properties, then its processes.
void gpu_cards(const Panel& p, const DeviceEntry& entry);
// Draws the programs that use the cores of the whole machine.
void programs_card(const Panel& p);
// Shows which GPUs can access each other's memory directly: one sentence for a single GPU, nothing
// for none.
void peers_card(const Panel& p);

}  // namespace lab::ui
