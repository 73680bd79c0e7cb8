#pragma once
// Parts of the Devices page. For use inside ui/pages only.
#include <string>

#include "ui/pages/panel.h"

namespace lab::ui {

// Draws an NVIDIA GPU: its activity, then its properties. `place` indexes Model::gpus(); `device`
// is the lab's compute device on it, null if there is none.
void gpu_card(const Panel& p, std::size_t place, const DeviceInfo* device);

// "cuda:1" if the lab computes on it, otherwise "GPU 1".
std::string gpu_name(const Model& model, std::size_t place);

// Shows which GPUs can access each other's memory directly: one sentence for a single GPU, nothing
// for none.
void peers_card(const Panel& p);

// Draws the charts at the bottom of the page.
void device_charts(const Panel& p);

// Returns the compute device on that GPU; null if the lab does not compute on it.
const DeviceInfo* device_of(const Model& model, const GpuRecord& gpu);
// Returns the colour of the GPU at `place`; `device` may be null.
ImU32 gpu_color(const Panel& p, std::size_t place, const DeviceInfo* device);

// Draws the last two minutes of a device's utilisation.
void utilisation_sparkline(const Panel& p, const std::string& path, const Column64& t_s,
                           const Column64& utilisation, ImU32 color);

}  // namespace lab::ui
