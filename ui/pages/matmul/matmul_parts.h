#pragma once
// The cards of results on the Matmul page. For use inside ui/pages only.
#include <string_view>

#include "ui/pages/panel.h"
#include "ui/plot/plot.h"

namespace lab::ui {

// One line a rung: its share of the peak at the largest size measured, the library's as reference.
// A rung under the pointer says what it adds, and its curve stands out.
void draw_matmul_ladder(const Panel& p, const Kept<MatmulResults>& kept);
void draw_matmul_curves(const Panel& p, const Kept<MatmulResults>& kept);
void draw_live_matmul(const Panel& p, const Kept<MatmulResults>& kept);
// The kernels of one device at one size under the measured ceilings, and those in numbers.
void draw_matmul_roofline(const Panel& p, const Kept<MatmulResults>& kept);

// The results in the order of the ladder, whatever was measured first.
std::vector<const KernelResults*> by_rung(const Panel& p, const MatmulResults& results);
// Name, colour, dash and marker of a kernel; the one under the mouse stands out.
plot::Series kernel_series(const Panel& p, const KernelResults& k, bool several_devices);
// A kernel has one colour on the page, by its place in the ladder. Where several devices have
// results colours tell the devices apart, and markers the kernels.
ImU32 kernel_color(const Panel& p, Device device, std::string_view kernel, bool several_devices);
// What names a kernel among the results of several devices: "cpu:1 packed".
std::string kernel_key(Device device, std::string_view kernel);

}  // namespace lab::ui
