#pragma once
// Parts of the Devices page. For use inside ui/pages only.
#include <string>

#include "ui/pages/panel.h"

namespace lab::ui {

// An NVIDIA GPU, by its place among Model::gpus(): what it does, then what it is. `device` is what
// the lab computes on it as; null where it does not.
void gpu_card(const Panel& p, std::size_t place, const DeviceInfo* device);

// "cuda:1" where the lab computes on it, else "GPU 1".
std::string gpu_name(const Model& model, std::size_t place);

// Which GPU reaches which other's memory directly; a sentence for one, nothing for none.
void peers_card(const Panel& p);

// The charts at the foot of the page.
void device_charts(const Panel& p);

// The device as which the lab computes on the GPU; null where it does not.
const DeviceInfo* device_of(const Model& model, const GpuRecord& gpu);
// The colour of the GPU at that place and of `device`, which may be null.
ImU32 gpu_color(const Panel& p, std::size_t place, const DeviceInfo* device);

// The last two minutes of a device's utilisation.
void utilisation_sparkline(const Panel& p, const std::string& path, const Column64& t_s,
                           const Column64& utilisation, ImU32 color);

}  // namespace lab::ui
