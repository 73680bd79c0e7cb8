#include "compute/gpu/nearby_processors.h"

#include <charconv>
#include <fstream>

namespace lab {

std::vector<int> parse_processor_list(std::string_view list) {
  std::vector<int> all;
  const char* at = list.data();
  const char* const end = at + list.size();
  const auto number = [&](int& value) {
    const auto parsed = std::from_chars(at, end, value);
    at = parsed.ptr;
    return parsed.ec == std::errc() && value >= 0 && value < CPU_SETSIZE;
  };
  while (at != end) {
    int first = 0;
    if (!number(first)) return {};
    int last = first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(last)) return {};
    }
    for (int i = first; i <= last; ++i) all.push_back(i);
    if (at != end && *at++ != ',') return {};
  }
  return all;
}

NearGpu::NearGpu(const std::string& pci_bus_id, const std::string& root) {
  CPU_ZERO(&before_);
  std::ifstream file(root + "/sys/bus/pci/devices/" + pci_bus_id + "/local_cpulist");
  std::string list;
  if (!std::getline(file, list) || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t near;
  CPU_ZERO(&near);
  for (const int processor : parse_processor_list(list)) {
    if (CPU_ISSET(processor, &before_)) CPU_SET(processor, &near);
  }
  if (CPU_COUNT(&near) == 0 || CPU_EQUAL(&near, &before_)) return;
  moved_ = sched_setaffinity(0, sizeof near, &near) == 0;
}

NearGpu::~NearGpu() {
  if (moved_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace lab
