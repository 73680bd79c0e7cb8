#pragma once
// The cards of results on the Matmul page. For use inside ui/pages only.
#include <string_view>

#include "ui/pages/panel.h"
#include "ui/plot/plot.h"

namespace lab::ui {

// One line per rung: its share of the peak at the largest measured size, with the library's share
// as reference. Hovering a rung shows what it adds and highlights its curve.
void draw_matmul_ladder(const Panel& p, const Kept<MatmulResults>& kept);
// `beside_ladder`: the bars of the ladder have the colours, so that no legend is needed.
void draw_matmul_curves(const Panel& p, const Kept<MatmulResults>& kept, bool beside_ladder);
void draw_live_matmul(const Panel& p, const Kept<MatmulResults>& kept);
// The roofline of one device at one size: its kernels under the measured ceilings, with a table of
// the values.
void draw_matmul_roofline(const Panel& p, const Kept<MatmulResults>& kept);

// Products on several devices at once: each device's speed and the speed-up, by size.
void draw_matmul_together(const Panel& p, const Kept<MatmulResults>& kept);

// Returns the results in ladder order, independent of the order of measurement.
std::vector<const KernelResults*> by_rung(const Panel& p, const MatmulResults& results);
// Returns a series with the kernel's title, colour, dash and marker; the hovered kernel is
// highlighted.
plot::Series kernel_series(const Panel& p, const KernelResults& k);
// A kernel's colour depends on its place in the device's ladder and is the same everywhere on the
// page.
ImU32 kernel_color(const Panel& p, Device device, std::string_view kernel);
// The device whose curves and roofline are shown, and unless all ladders fit whose ladder: the
// user's choice if it has results, otherwise the first one that has.
Device shown_device(const Panel& p, const MatmulResults& results);
// Selects that device; draws nothing if only one has results.
void draw_device_choice(const Panel& p, const MatmulResults& results);
// The marker of its curve, also shown next to its name.
plot::Marker kernel_marker(const Panel& p, const std::string& name);
// "Three loops (naive)": the title with the name, which the command line expects. Where there is no
// room, callers show the title only.
std::string titled_name(const std::string& name, const std::string& title);
// The sample with the titled name of its kernel, to be described.
MatmulSample with_title(const Panel& p, MatmulSample sample);
// Identifies a kernel among the results of several devices: "cpu:1 packed".
std::string kernel_key(Device device, std::string_view kernel);

}  // namespace lab::ui
