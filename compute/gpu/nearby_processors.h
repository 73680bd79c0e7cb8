#pragma once
// The processors of a GPU's NUMA node. Host memory lies on the node of the thread that allocates
// it, and a copy between a GPU and another node's memory also crosses the link between the
// processors.
#include <sched.h>

#include <string>
#include <string_view>
#include <vector>

namespace lab {

// The numbers in a list of the kernel, such as "0-3,8,10-11"; empty if it is not one.
std::vector<int> parse_processor_list(std::string_view list);

// While it lives, the calling thread runs only on the processors near a GPU, if the kernel names
// them and it may run on some of them; otherwise nothing changes.
class NearGpu {
 public:
  // `pci_bus_id` as in /sys/bus/pci: "0000:01:00.0". `root` is the root of the file system, for
  // tests.
  explicit NearGpu(const std::string& pci_bus_id, const std::string& root = "");
  ~NearGpu();
  NearGpu(const NearGpu&) = delete;
  NearGpu& operator=(const NearGpu&) = delete;

 private:
  cpu_set_t before_;
  bool moved_ = false;
};

}  // namespace lab
