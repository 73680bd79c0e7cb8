#pragma once
// Division of the machine's cores among CPU devices.
#include <vector>

#include "compute/machine/cpu_topology.h"

namespace lab {

// Returns the first max(1, ceil(quota)) cores, or all if there are fewer. `quota` is CPU time in
// units of one processor; more threads than that would only be throttled.
std::vector<CpuCore> cores_within(std::vector<CpuCore> cores, double quota);

// Returns the cores of device `index` of `devices`. Parts are contiguous. A device has cores of one
// kind, and the devices are divided among the kinds in proportion to their cores, at least one per
// kind; devices of one kind differ in size by at most one core. With fewer devices than kinds,
// neighbouring kinds form one device. If there are more devices than cores, device i gets the
// single core i mod n of the n cores.
std::vector<CpuCore> split_cores(const std::vector<CpuCore>& cores, int index, int devices);

}  // namespace lab
