#pragma once
// The processors of a GPU's NUMA node. Host memory is on the node of the thread that allocates
// it, and a copy between a GPU and another node's memory also crosses the link between the
// processors.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

// The numbers in a list of the kernel, such as "0-3,8,10-11"; empty if it is not one.
std::vector<int> parse_processor_list(std::string_view list);

// Runs `work` on a thread of its own, on the processors near a GPU that the process may use; if the
// kernel names none of them, where the calling thread may run. Waits for its end, and throws what
// it throws. `pci_bus_id` as in /sys/bus/pci: "0000:01:00.0". `root` is the root of the file
// system, for tests.
void run_near_gpu(const std::string& pci_bus_id, const std::function<void()>& work,
                  const std::string& root = "");

}  // namespace lab
